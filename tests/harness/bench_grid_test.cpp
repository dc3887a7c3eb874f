#include "harness/bench_grid.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

GridRow row(Bytes bytes, double ring_us, double one_shot_us) {
  GridRow made{.bytes = bytes,
               .cells = {{.algorithm = Algorithm::Ring, .time = Seconds{ring_us / 1e6}},
                         {.algorithm = Algorithm::OneShot, .time = Seconds{one_shot_us / 1e6}}}};
  made.best = one_shot_us < ring_us ? 1 : 0;
  return made;
}

// 8 B: one-shot, half the time. 1 KiB: the ring is 2 % ahead, less than a change is worth. 64 KiB: ring.
TEST(BenchGrid, ARuleAppliesUntilAnotherIsClearlyBetter) {
  const auto rules =
      rules_of({row(8_B, 2, 1), row(1_KiB, 2, 2.04), row(64_KiB, 8, 12)}, {.nranks = 4});
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].algorithm, Algorithm::OneShot);
  EXPECT_EQ(rules[0].up_to, 1_KiB);
  EXPECT_EQ(rules[1].algorithm, Algorithm::Ring);
  EXPECT_EQ(rules[1].up_to, kNoLimit);
  EXPECT_EQ(rules[1].nranks, 4);
}

TEST(BenchGrid, APickWithinFivePercentIsGood) {
  GridRow made = row(8_B, 1.04, 1.0);
  EXPECT_FALSE(made.is_pick_good());
  made.pick = 0;
  EXPECT_TRUE(made.is_pick_good());
  made.cells[0].time = Seconds{1.06 / 1e6};
  EXPECT_FALSE(made.is_pick_good());
}

}  // namespace
}  // namespace ringside
