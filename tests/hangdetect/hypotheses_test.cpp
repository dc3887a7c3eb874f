#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "diag/hangdetect/verdict/decide.h"
#include "diag/hangdetect/verdict/features.h"
#include "diag/report/sentences/hang_sentences.h"
#include "tests/diag/labelled_hangs.h"
#include "tests/hangdetect/small_job.h"

// Tests which ranks may be named: membership is evidence, and a missing log is not evidence against a rank.

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string timeout_of(int rank, const std::string& op, int sequence, const std::string& sizes,
                       const std::string& group, int enqueued) {
  const std::string r = std::to_string(rank);
  const std::string s = std::to_string(sequence);
  return "[rank" + r + "]:[E612 08:15:40.101 ProcessGroupNCCL.cpp:616] [Rank " + r +
         "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=" + s + ", OpType=" + op +
         ", " + sizes + ", Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n" +
         "[rank" + r + "]:[E612 08:15:40.355 ProcessGroupNCCL.cpp:1834] [PG ID 0 PG GUID " + group +
         " Rank " + r + "] failure detected by watchdog at work sequence id: " + s +
         " PG status: last enqueued work: " + std::to_string(enqueued) +
         ", last completed work: " + std::to_string(sequence - 1) + "\n";
}

std::string reduce_of(int rank, int sequence, int enqueued) {
  return timeout_of(rank, "ALLREDUCE", sequence, "NumelIn=64, NumelOut=64", "0(default_pg)",
                    enqueued);
}

TEST(Features, TheConfidenceIsTheLogisticFunctionOfTheSum) {
  const double sum = weight_of(Feature::CallsDiffer) + weight_of(Feature::Tie);
  EXPECT_NEAR(confidence_of({Feature::CallsDiffer, Feature::Tie}), 1 / (1 + std::exp(-sum)), 5e-4);
  EXPECT_EQ(to_string(Feature::CallsDiffer), "CallsDiffer");
}

// Ranks 0 to 7 wait for each other in call 6, and one dump is here: seven ranks are unseen, and any of them may be missing.
TEST(Membership, OneDumpOfEightNamesNoRank) {
  SmallJob job(8);
  const int world = job.add_group("0", {0, 1, 2, 3, 4, 5, 6, 7}, "default_pg");
  job.all_call(world, "nccl:all_reduce", 64, 5);
  job.call(0, world, "nccl:all_reduce", 64);
  for (int rank = 1; rank < 8; ++rank) job.lose(rank);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::Unknown);
  EXPECT_THAT(verdict.best.culprits, IsEmpty());
  EXPECT_EQ(verdict.best.call, "all_reduce 6 of default_pg");
  EXPECT_THAT(why_of(verdict.best), HasSubstr("1 of 8 dumps"));
}

TEST(Membership, TheOneRankWithoutATimeOutIsNamedAndNotSurely) {
  std::string text;
  for (const int rank : {1, 2, 3}) text += reduce_of(rank, 12, 12);
  const Explanation best = verdict_on(text);
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_THAT(best.culprits, ElementsAre(0)) << "rank 0 exists in every job";
  EXPECT_LT(best.confidence, 0.5);
  EXPECT_THAT(verdict_on(reduce_of(1, 12, 12) + reduce_of(5, 12, 12)).culprits, IsEmpty())
      << "ranks 0, 2, 3 and 4 log nothing here";
}

TEST(Membership, RanksThatLogAreNotAllRanks) {
  const Explanation best = verdict_on(reduce_of(0, 12, 12) + reduce_of(1, 12, 12));
  EXPECT_EQ(best.kind, Kind::Unknown);
  EXPECT_THAT(why_of(best), HasSubstr("no line shows which other ranks are in its group"));
}

// Seven hosts went on to enqueue 40 calls more; that of rank 2 enqueued the call in which all wait, and no other.
TEST(LogsAlone, SuspectsTheRankWhoseHostEnqueuedNoFurtherCall) {
  std::string text = "world_size=8\n";
  for (int rank = 0; rank < 8; ++rank) text += reduce_of(rank, 12, rank == 2 ? 12 : 52);
  const Explanation best = verdict_on(text);
  EXPECT_THAT(best.culprits, ElementsAre(2));
  EXPECT_LT(best.confidence, 0.5);
  std::string all = "world_size=8\n";
  for (int rank = 0; rank < 8; ++rank) all += reduce_of(rank, 12, 52);
  EXPECT_THAT(verdict_on(all).culprits, IsEmpty());
}

TEST(LogsAlone, RanksThatWaitInGroupsOfTwoSortsMayWaitForEachOther) {
  std::string text;
  for (const int rank : {0, 1, 2}) {
    text += timeout_of(rank, "ALLTOALL_BASE", 11, "NumelIn=64, NumelOut=64", "1(mesh_shard)", 11);
  }
  text += timeout_of(3, "ALLREDUCE", 5, "NumelIn=8, NumelOut=8", "9(mesh_replicate)", 5);
  const Explanation best = verdict_on(text);
  EXPECT_EQ(best.kind, Kind::DeadlockCycle);
  EXPECT_THAT(best.culprits, IsEmpty());
}

// A coalesced all-gather gives out as many times the input as there are ranks, so all inputs are equal.
TEST(LogsAlone, CoalescedGathersOfOtherSizesDiffer) {
  std::string text;
  for (const int rank : {0, 1, 2, 3}) {
    const int size = rank == 3 ? 96 : 64;
    text += timeout_of(rank, "COALESCED", 7,
                       "NumelIn=" + std::to_string(size) + ", NumelOut=" + std::to_string(4 * size),
                       "0(default_pg)", 7);
  }
  const Explanation best = verdict_on(text);
  EXPECT_EQ(best.kind, Kind::ShapeMismatch);
  EXPECT_THAT(best.culprits, ElementsAre(3));
}

TEST(Deaths, AllRanksWhoseGpuMemoryWasFullAreNamed) {
  std::string text = reduce_of(4, 12, 12);
  for (const int rank : {0, 1, 2, 3}) {
    text +=
        "[rank" + std::to_string(rank) +
        "]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a "
        "total capacity of 79.11 GiB of which 1.02 GiB is free.\n";
  }
  const Explanation best = verdict_on(text);
  EXPECT_EQ(best.kind, Kind::DeadRank);
  EXPECT_THAT(best.culprits, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(why_of(best), HasSubstr("GPU memory was full"));
}

}  // namespace
}  // namespace ringside::hang
