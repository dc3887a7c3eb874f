#include "diag/hangdetect/verdict/wait_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WaitGraph, AChainHasAHeadAndNoCycle) {
  const std::vector<std::vector<int>> waits = {{1}, {2}, {}};
  EXPECT_THAT(wait_cycles(waits), IsEmpty());
  EXPECT_THAT(heads_of(waits, {0}), ElementsAre(2));
}

// 0 -> 1 -> 0 and 2 -> 1 -> 2: rank 1 is in both cycles.
TEST(WaitGraph, TheRankInEveryCycleBreaksTheComponent) {
  const auto cycles = wait_cycles({{1}, {0, 2}, {1}});
  ASSERT_EQ(cycles.size(), 1U);
  EXPECT_THAT(cycles[0].ranks, ElementsAre(0, 1, 2));
  EXPECT_THAT(cycles[0].breakers, ElementsAre(1));
}

TEST(WaitGraph, EveryRankOfOneCycleBreaksIt) {
  const auto cycles = wait_cycles({{1}, {2}, {0}});
  ASSERT_EQ(cycles.size(), 1U);
  EXPECT_THAT(cycles[0].breakers, ElementsAre(0, 1, 2));
  EXPECT_THAT(cycles[0].shortest, testing::SizeIs(3));
}

// 0 <-> 1 wait for 2 <-> 3 as well: only the latter component has to be resolved.
TEST(WaitGraph, AComponentThatWaitsForAnotherIsAVictim) {
  const auto cycles = wait_cycles({{1, 2}, {0}, {3}, {2}});
  ASSERT_EQ(cycles.size(), 1U);
  EXPECT_THAT(cycles[0].ranks, ElementsAre(2, 3));
}

// A ring of 100,000 ranks: recursion would not survive it.
TEST(WaitGraph, LongCyclesDoNotExhaustTheStack) {
  std::vector<std::vector<int>> waits(100'000);
  for (std::size_t i = 0; i < waits.size(); ++i)
    waits[i] = {static_cast<int>((i + 1) % waits.size())};
  std::vector<int> chain = heads_of(waits, {0});
  EXPECT_THAT(chain, IsEmpty());
  waits.back().clear();
  EXPECT_THAT(heads_of(waits, {0}), ElementsAre(99'999));
}

}  // namespace
}  // namespace ringside::hang
