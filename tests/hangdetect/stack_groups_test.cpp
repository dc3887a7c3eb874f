#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/hangdetect/readers/listed_source.h"
#include "tests/diag/labelled_hangs.h"

// Tests text next to stacks: groups, numbers, source, and `the same as rank 2`.

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string wait_state(int rank, const std::string& function, const std::string& group) {
  return "rank " + std::to_string(rank) +
         "\n    all_reduce (torch/distributed/distributed_c10d.py:2757)\n    " + function +
         " (train.py:" + (function == "norm" ? "40" : "80") + ")   <- group=" + group + "\n";
}

TEST(StackGroups, RanksBlockedAcrossGroupsFormACycle) {
  const Explanation best =
      verdict_on(wait_state(0, "norm", "tp [0,1]") + wait_state(1, "flush", "dp [1,3]") +
                 wait_state(2, "flush", "dp [0,2]") + wait_state(3, "norm", "tp [2,3]"));
  EXPECT_EQ(best.kind, Kind::DeadlockCycle);
  EXPECT_THAT(best.culprits, ElementsAre(0, 1, 2, 3));
}

TEST(StackGroups, WithoutGroupsTheVerdictIsDivergedControlFlow) {
  const Explanation best = verdict_on(wait_state(0, "norm", "x") + wait_state(1, "flush", "x") +
                                      wait_state(2, "flush", "x") + wait_state(3, "norm", "x"));
  EXPECT_EQ(best.kind, Kind::DivergedControlFlow);
  EXPECT_THAT(best.culprits, IsEmpty());
}

TEST(StackGroups, DifferentAnnotatedValuesMeanDifferentCalls) {
  const auto gathers = [](int rank, const char* note) {
    return "rank " + std::to_string(rank) +
           "\n    all_gather (torch/distributed/distributed_c10d.py:2757)\n    forward "
           "(moe.py:702)" +
           note + "\n";
  };
  EXPECT_EQ(verdict_on(gathers(0, "   # expert_idx = 6") + gathers(4, "   # expert_idx = 7")).kind,
            Kind::DivergedControlFlow);
  EXPECT_NE(verdict_on(gathers(0, "   # expert_idx = 6") + gathers(4, "   # expert_idx = 6")).kind,
            Kind::DivergedControlFlow);
  EXPECT_NE(verdict_on(gathers(0, "   # loss = 6") + gathers(4, "   # loss = 7")).kind,
            Kind::DivergedControlFlow);
}

TEST(ListedSource, AnItemCallIsAGpuWait) {
  const auto doing = [](const char* code, const char* caller) {
    ListedSource source;
    source.take(code);
    source.take(caller);
    std::vector<ProcessStack> stacks(1);
    stacks[0].frames = {{"evaluate", "train.py", 164}, {"main", "train.py", 229}};
    source.mark_gpu_waits(stacks);
    return stacks[0].activity;
  };
  EXPECT_EQ(doing("164      total += loss.item()", "229:  evaluate(model)"), Activity::GpuWait);
  EXPECT_EQ(doing("164      total += price", "229:  evaluate(model)"), Activity::Compute);
  EXPECT_EQ(doing("164      total += loss.item()", "229:  validate(model)"), Activity::Compute)
      << "the source is of another file";
}

TEST(ProcessStacks, TheOtherRanksInBracketsWaitForTheirGpusAtOnePlace) {
  const auto stacks = read_process_stacks(
      read_paste("of rank 0:\n    barrier (distributed_c10d.py:3685)\n    main (a.py:1)\n"
                 "and the other three (1, 2, 3) look like\n    item (a.py:9)\n    main (a.py:9)\n"),
      "paste.txt");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_THAT(stacks[1].ranks, ElementsAre(1, 2, 3));
  EXPECT_EQ(stacks[1].activity, Activity::GpuWait);
}

TEST(ProcessStacks, AStackThatIsNotRepeatedBelongsToTheNamedRank) {
  const auto stacks = read_process_stacks(
      read_paste("task 0\n    barrier (distributed_c10d.py:3685)\n    main (a.py:1)\n"
                 "task 1: the same as task 0\n4 GPUs, DDP, rank 2:\n    evaluate (a.py:9)\n"),
      "paste.txt");
  ASSERT_EQ(stacks.size(), 3U);
  EXPECT_THAT(stacks[1].ranks, ElementsAre(1));
  EXPECT_EQ(stacks[1].activity, Activity::Collective);
  EXPECT_EQ(stacks[2].count, 1) << "four is how many GPUs the job has";
}

}  // namespace
}  // namespace ringside::hang
