#include "engine/tuning/crossover.h"

#include <gtest/gtest.h>

#include "tests/tuning/reference_shapes.h"

namespace ringside {
namespace {

std::string name_of(const Candidate& candidate) {
  return std::string(to_string(candidate.algorithm)) + "/" + to_string(candidate.protocol);
}

// One node of 8: ring LL takes 15 + b / 80571 us, NVLS 25 + b / 272000; they meet at
// 10 / (1 / 80571.43 - 1 / 272000) = 1,144,818 B. Single precision moves that by some bytes.
TEST(Stretches, OneNodeOfEightGoesFromRingToNvls) {
  const Tuner tuner = Tuner::make(h100_shape(1), {}).value();
  const auto found = stretches(tuner, {}, 8_B, 8_GiB);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].from, 8_B);
  EXPECT_EQ(name_of(found[0].fastest), "ring/ll");
  EXPECT_EQ(name_of(found[1].fastest), "nvls/simple");
  EXPECT_NEAR(static_cast<double>(found[1].from.value), 1144818, 20);
}

// The choice for every size of the grid equals the choice of the stretch that holds the size.
TEST(Stretches, AgreeWithTheChoiceForEverySize) {
  for (const CommShape& shape : {h100_shape(1), h100_shape(2), h100_shape(16), one_gpu_shape(8)}) {
    const Tuner tuner = Tuner::make(shape, {}).value();
    const auto found = stretches(tuner, {}, 1_B, 8_GiB);
    ASSERT_FALSE(found.empty());
    std::size_t at = 0;
    for (std::uint64_t size = 1; size <= (8_GiB).value; size += size / 7 + 1) {
      while (at + 1 < found.size() && found[at + 1].from.value <= size) ++at;
      EXPECT_EQ(name_of(*tuner.fastest({.bytes = Bytes{size}})), name_of(found[at].fastest))
          << size;
    }
  }
}

TEST(Stretches, ASingleSizeIsOneStretch) {
  const Tuner tuner = Tuner::make(h100_shape(2), {}).value();
  EXPECT_EQ(stretches(tuner, {}, 1_MiB, 1_MiB).size(), 1U);
}

}  // namespace
}  // namespace ringside
