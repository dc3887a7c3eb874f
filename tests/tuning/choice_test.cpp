#include "engine/tuning/choice.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

Cluster dgx_cluster(int nodes) { return *make_cluster(*load_node("dgx-h100"), nodes); }

TEST(ChooseSimulated, TakesNcclsSimpleSizes) {
  const Choice all_reduce = choose_simulated(dgx_cluster(2), Collective::AllReduce, 1_GiB);
  EXPECT_EQ(all_reduce.algorithm, Algorithm::Ring);
  EXPECT_EQ(all_reduce.protocol, Protocol::Simple);
  EXPECT_EQ(all_reduce.slot, 512_KiB);
  EXPECT_EQ(all_reduce.slots_per_chunk, 4);
  EXPECT_EQ(all_reduce.chunk, 2_MiB);
  const Choice broadcast = choose_simulated(dgx_cluster(2), Collective::Broadcast, 1_GiB);
  EXPECT_EQ(broadcast.chunk, 512_KiB);
  EXPECT_EQ(broadcast.slots_per_chunk, 1);
}

// One channel for each 512 threads x 64 bytes = 32 KiB: the sizes of NCCL's worked example.
TEST(ChooseSimulated, GivesAsManyChannelsAsTheSizeFeeds) {
  const auto channels = [](int nodes, Bytes size) {
    return choose_simulated(dgx_cluster(nodes), Collective::AllReduce, size).nchannels;
  };
  EXPECT_EQ(channels(1, 0_B), 1);
  EXPECT_EQ(channels(1, 1_KiB), 1);
  EXPECT_EQ(channels(1, 64_KiB), 2);
  EXPECT_EQ(channels(1, 256_KiB), 8);
  EXPECT_EQ(channels(1, 1_MiB), 24);  // 32 would be fed, 24 are there
  EXPECT_EQ(channels(2, 1_GiB), 16);
}

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
