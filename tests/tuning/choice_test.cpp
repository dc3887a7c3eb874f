#include "engine/tuning/choice.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(MakeChoice, KeepsTheGivenValuesAndAddsTheChunk) {
  const auto choice = make_choice({.collective = Collective::Reduce,
                                   .algorithm = Algorithm::Tree,
                                   .protocol = Protocol::LL,
                                   .nchannels = 3,
                                   .slot = 64_KiB,
                                   .slots_per_chunk = 2,
                                   .chunk = 1_B});
  ASSERT_TRUE(choice);
  EXPECT_EQ(*choice, (Choice{.collective = Collective::Reduce,
                             .algorithm = Algorithm::Tree,
                             .protocol = Protocol::LL,
                             .nchannels = 3,
                             .slot = 64_KiB,
                             .slots_per_chunk = 2,
                             .chunk = 128_KiB}));
}

TEST(MakeChoice, RefusesWhatCannotRun) {
  const auto refused = [](const Choice& parts) {
    const auto choice = make_choice(parts);
    return !choice && choice.error().code == ErrorCode::InvalidArgument;
  };
  EXPECT_FALSE(refused({.slot = 64_KiB}));
  EXPECT_TRUE(refused({.nchannels = 0, .slot = 64_KiB}));
  EXPECT_TRUE(refused({.nchannels = 65, .slot = 64_KiB}));
  EXPECT_TRUE(refused({.slot = 0_B}));
  EXPECT_TRUE(refused({.slot = 1000_B}));
  EXPECT_TRUE(refused({.slot = 128_MiB}));
  EXPECT_TRUE(refused({.slot = 64_KiB, .slots_per_chunk = 0}));
  // A second chunk would not fit the 8 slots.
  EXPECT_TRUE(refused({.slot = 64_KiB, .slots_per_chunk = 5}));
}

}  // namespace
}  // namespace ringside
