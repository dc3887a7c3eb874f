#include "engine/tuning/choice.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(ChooseHost, TakesItsDefaultsUnlessOverridden) {
  const auto usual = choose_host(Collective::AllReduce, 1_MiB, 4);
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->nchannels, kHostDefaults.nchannels);
  EXPECT_EQ(usual->chunk.value, kHostDefaults.slot.value * 4);
  const auto own = choose_host(Collective::AllReduce, 1_MiB, 4,
                               {.nchannels = 3, .slot = 64_KiB, .slots_per_chunk = 2});
  ASSERT_TRUE(own);
  EXPECT_EQ(own->nchannels, 3);
  EXPECT_EQ(own->chunk, 128_KiB);
}

TEST(ChooseHost, RefusesWhatCannotRun) {
  const auto refused = [](const HostOverrides& overrides) {
    const auto choice = choose_host(Collective::AllReduce, 1_MiB, 4, overrides);
    return !choice && choice.error().code == ErrorCode::InvalidArgument;
  };
  EXPECT_TRUE(refused({.nchannels = 0}));
  EXPECT_TRUE(refused({.nchannels = 65}));
  EXPECT_TRUE(refused({.slot = 0_B}));
  EXPECT_TRUE(refused({.slot = 1000_B}));
  EXPECT_TRUE(refused({.slot = 128_MiB}));
  EXPECT_TRUE(refused({.slots_per_chunk = 0}));
  EXPECT_TRUE(refused({.slots_per_chunk = 5}));  // a second chunk would not fit the 8 slots
}

}  // namespace
}  // namespace ringside
