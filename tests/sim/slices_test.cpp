#include "sim/slices.h"

#include <gtest/gtest.h>

#include <vector>

namespace ringside {
namespace {

std::vector<std::int64_t> cut(const Choice& choice, std::int64_t count) {
  const Slices slices(choice, 4_B);
  std::vector<std::int64_t> all;
  for (std::int64_t left = count; left > 0; left -= all.back())
    all.push_back(slices.next(count, left));
  EXPECT_EQ(slices.of(count), std::ssize(all));
  return all;
}

using Cut = std::vector<std::int64_t>;

// source  NCCL 2.30.7, collectives.h, prims_simple.h: slots of 512 KiB, 4 a chunk, 2 a slice
TEST(Slices, SimpleRingsHaveTwo) {
  const Choice ring{.slot = 512_KiB, .slots_per_chunk = 4, .chunk = 2_MiB};
  EXPECT_EQ(Slices(ring, 4_B).slots(), 2);
  EXPECT_EQ(cut(ring, 524'288), (Cut{262'144, 262'144}));
  EXPECT_EQ(cut(ring, 100'001), (Cut{50'016, 49'985}));  // multiples of 16
  EXPECT_EQ(cut(ring, 8'192), Cut{8'192});               // 32 KiB: a slice's least
  EXPECT_EQ(cut(ring, 8'193), (Cut{8'192, 1}));
  EXPECT_EQ(cut(ring, 1), Cut{1});
  EXPECT_EQ(cut(ring, 0), Cut{});
}

TEST(Slices, OtherAlgorithmsHaveOnePerChunk) {
  for (const Choice& choice :
       {Choice{.protocol = Protocol::LL128, .slot = 512_KiB, .slots_per_chunk = 4},
        Choice{.algorithm = Algorithm::Tree, .slot = 512_KiB, .slots_per_chunk = 4},
        Choice{.collective = Collective::Broadcast, .slot = 512_KiB, .slots_per_chunk = 4}}) {
    EXPECT_EQ(Slices(choice, 4_B).slots(), 4);
    EXPECT_EQ(cut(choice, 524'288), Cut{524'288});
  }
}

}  // namespace
}  // namespace ringside
