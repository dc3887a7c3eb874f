#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/decide.h"
#include "diag/hangdetect/verdict/explain.h"

// What a verdict says of a text, in words: it claims nothing that the text does not show.

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
  const Job job(names, facts.dumps, {}, facts.world);
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

TEST(Wording, WhoHasCompletedAllThatItEnqueuedWaitsForNothing) {
  const Said said = said_of(status_of(0, 40, 40, 40));
  EXPECT_THAT(said.best.culprits, IsEmpty());
  EXPECT_THAT(said.best.why, Not(HasSubstr("entered")));
  EXPECT_THAT(said.best.call, IsEmpty());
}

TEST(Wording, OfARankThatIsACallBehindNothingIsPending) {
  std::string text = "world_size=3\n";
  for (const int rank : {0, 2}) text += timeout_of(rank, 41) + status_of(rank, 41, 41, 40);
  text += status_of(1, 40, 40, 40);
  EXPECT_THAT(said_of(text).best.culprits, testing::ElementsAre(1));
}

TEST(Wording, TheHighestRankIsNoSizeOfTheJob) {
  const Said said = said_of(timeout_of(5, 12) + status_of(5, 12, 12, 11));
  EXPECT_FALSE(said.is_world_known);
  EXPECT_THAT(said.best.culprits, IsEmpty());
  EXPECT_THAT(said.best.why, Not(HasSubstr("of 6")));
}

TEST(Wording, OneRankHasAndSeveralHave) {
  EXPECT_EQ(ranks_that({1}, "waits", "wait"), "rank 1 waits");
  EXPECT_EQ(ranks_that({0, 1}, "waits", "wait"), "ranks 0-1 wait");
}

TEST(Wording, StacksThatAreHereAreNotMissed) {
  const Said said = said_of(
      "rank 0:\nThread 900 (active): \"MainThread\"\n    forward (model.py:211)\n    <module> "
      "(train.py:301)\n\nrank 1:\nThread 901 (active): \"MainThread\"\n    tokenize (tok.py:88)\n  "
      "  <module> (train.py:301)\n");
  EXPECT_THAT(said.best.why, HasSubstr("rank 0"));
  EXPECT_THAT(said.best.why, HasSubstr("rank 1"));
  EXPECT_THAT(said.best.why, Not(HasSubstr("the stacks of the others are not here")));
}

TEST(Wording, WordsOfOtherProgramsAccuseNobody) {
  const Said said =
      said_of("[81223.511] Out of memory: Killed process 4211 (chrome) total-vm:1kB\n");
  EXPECT_EQ(said.best.kind, Kind::Unknown);
  EXPECT_THAT(said.best.why, HasSubstr("no line here is of a job"));
}

}  // namespace
}  // namespace ringside::hang
