#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/decide.h"
#include "diag/report/sentences/hang_sentences.h"

// Tests the sentences of a verdict: they claim nothing that the text does not show.

namespace ringside::hang {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Said {
  Explanation best;
  bool is_world_known = false;
};

Said said_of(const std::string& text) {
  Names names;
  const LogFacts facts = read_log_text(text, "paste.txt", names);
  Job job(names, facts.dumps, {}, facts.world);
  for (const auto& [rank, notes] : facts.notes) {
    if (rank >= 0 && rank < job.world()) job.rank(rank).notes = notes;
  }
  return {decide(job, facts).best, is_world_known(job, facts)};
}

std::string timeout_of(int rank, int sequence) {
  const std::string r = std::to_string(rank);
  return "[rank" + r + "]:[E612 08:15:40.101 ProcessGroupNCCL.cpp:616] [Rank " + r +
         "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=" +
         std::to_string(sequence) +
         ", OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600010 "
         "milliseconds before timing out.\n";
}

std::string status_of(int rank, int at, int enqueued, int completed) {
  const std::string r = std::to_string(rank);
  return "[rank" + r +
         "]:[E612 08:15:40.355 ProcessGroupNCCL.cpp:1834] [PG ID 0 PG GUID 0(default_pg) Rank " +
         r + "] failure detected by watchdog at work sequence id: " + std::to_string(at) +
         " PG status: last enqueued work: " + std::to_string(enqueued) +
         ", last completed work: " + std::to_string(completed) + "\n";
}

TEST(Wording, ARankThatCompletedAllEnqueuedCallsDoesNotWait) {
  const Said said = said_of(status_of(0, 40, 40, 40));
  EXPECT_THAT(said.best.culprits, IsEmpty());
  EXPECT_THAT(why_of(said.best), Not(HasSubstr("entered")));
  EXPECT_THAT(said.best.call, IsEmpty());
}

TEST(Wording, ARankOneCallBehindHasNoPendingCall) {
  std::string text = "world_size=3\n";
  for (const int rank : {0, 2}) text += timeout_of(rank, 41) + status_of(rank, 41, 41, 40);
  text += status_of(1, 40, 40, 40);
  EXPECT_THAT(said_of(text).best.culprits, testing::ElementsAre(1));
}

TEST(Wording, TheHighestRankIsNotTheJobsSize) {
  const Said said = said_of(timeout_of(5, 12) + status_of(5, 12, 12, 11));
  EXPECT_FALSE(said.is_world_known);
  EXPECT_THAT(said.best.culprits, IsEmpty());
  EXPECT_THAT(why_of(said.best), Not(HasSubstr("of 6")));
}

TEST(Wording, ARankThatLogsOtherWorkWhileOthersTimeOutIsQuoted) {
  const std::string others = timeout_of(1, 12) + timeout_of(2, 12) + timeout_of(3, 12);
  const Said late = said_of(others + "[rank0]: 42 of 100 shards\n");
  EXPECT_THAT(late.best.culprits, testing::ElementsAre(0));
  EXPECT_THAT(why_of(late.best), HasSubstr("42 of 100 shards"));
  // Nearly every rank 0 writes lines like its earlier ones.
  const Said before = said_of("[rank0]: step 41 loss 2.1\n" + others);
  EXPECT_LT(before.best.confidence, 0.5);
  EXPECT_THAT(why_of(before.best), HasSubstr("the only rank without a time-out"));
}

TEST(Wording, APlaceInASubGroupNamesNoRankOfTheJob) {
  const Said said = said_of(
      "  what():  [PG ID 3 PG GUID 17(tp) Rank 1] Process group watchdog thread terminated with "
      "exception: [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, "
      "OpType=_ALLGATHER_BASE, NumelIn=4, NumelOut=8, Timeout(ms)=600000) ran for 600088 "
      "milliseconds before timing out.\n");
  EXPECT_THAT(said.best.culprits, IsEmpty());
  EXPECT_EQ(said.best.kind, Kind::Unknown);
  EXPECT_THAT(why_of(said.best), HasSubstr("Rank 1 of group tp (17) timed out in all_gather 7"));
}

TEST(Wording, OneRankWaitsAndSeveralWait) {
  EXPECT_EQ(ranks_that({1}, "waits", "wait"), "rank 1 waits");
  EXPECT_EQ(ranks_that({0, 1}, "waits", "wait"), "ranks 0-1 wait");
}

TEST(Wording, StacksThatAreHereAreNotMissed) {
  const Said said = said_of(
      "rank 0:\nThread 900 (active): \"MainThread\"\n    forward (model.py:211)\n    <module> "
      "(train.py:301)\n\nrank 1:\nThread 901 (active): \"MainThread\"\n    tokenize (tok.py:88)\n  "
      "  <module> (train.py:301)\n");
  EXPECT_THAT(why_of(said.best), HasSubstr("rank 0"));
  EXPECT_THAT(why_of(said.best), HasSubstr("rank 1"));
  EXPECT_THAT(why_of(said.best), Not(HasSubstr("the stacks of the others are not here")));
}

TEST(Wording, WordsOfOtherProgramsGiveNoCulprit) {
  const Said said =
      said_of("[81223.511] Out of memory: Killed process 4211 (chrome) total-vm:1kB\n");
  EXPECT_EQ(said.best.kind, Kind::Unknown);
  EXPECT_THAT(why_of(said.best), HasSubstr("No line here is of a job"));
}

}  // namespace
}  // namespace ringside::hang
