#include "engine/collectives/exchange_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/channels/channels.h"

namespace ringside {
namespace {

// In each round the rank that a rank sends to receives from it, and no rank meets another one twice.
TEST(ExchangeSchedule, SendersAndReceiversMeetInEachRound) {
  for (const auto& [nranks, per_node] :
       {std::pair{1, 0}, {7, 0}, {16, 8}, {24, 8}, {36, 12}, {20, 8}, {128, 8}}) {
    const Channels channels = host_channels(nranks, 1, per_node);
    std::vector<ExchangeSchedule> all;
    for (int rank = 0; rank < nranks; ++rank) {
      all.push_back(exchange_schedule(channels.nodes, Rank{rank}));
    }
    for (int rank = 0; rank < nranks; ++rank) {
      const auto& rounds = all[static_cast<std::size_t>(rank)].rounds;
      ASSERT_EQ(rounds.size(), static_cast<std::size_t>(nranks));
      EXPECT_EQ(rounds[0], (PeersOfRound{Rank{rank}, Rank{rank}}));
      std::vector<bool> is_met(rounds.size(), false);
      for (std::size_t i = 0; i < rounds.size(); ++i) {
        const auto to = static_cast<std::size_t>(to_int(rounds[i].send));
        EXPECT_FALSE(is_met[to]);
        is_met[to] = true;
        EXPECT_EQ(all[to].rounds[i].recv, Rank{rank}) << nranks << " ranks, round " << i;
      }
    }
  }
}

// 16 nodes of 8: the nodes come in the order 0 1 3 6 10 15 5 12 4 13 7 2 14 11 9 8.
TEST(ExchangeSchedule, SixteenBlocksComeInNcclsOrder) {
  const Channels channels = host_channels(128, 1, 8);
  const ExchangeSchedule schedule = exchange_schedule(channels.nodes, Rank{0});
  std::vector<int> nodes;
  for (std::size_t i = 0; i < 128; i += 8) nodes.push_back(to_int(schedule.rounds[i].send) / 8);
  EXPECT_EQ(nodes, (std::vector<int>{0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8}));
}

// One node: rounds 0 1 2 3 of 8 channels begin on 0, 4, 2, 6: their numbers with the bits mirrored.
TEST(ExchangeSchedule, RoundsBeginFarFromEachOther) {
  const ExchangeSchedule schedule{.rounds = {}, .block = 8, .nodes = 1};
  std::vector<int> channels;
  for (int round = 0; round < 4; ++round) {
    channels.push_back(first_channel_of(schedule, round, 8));
  }
  EXPECT_EQ(channels, (std::vector<int>{0, 4, 2, 6}));
}

// 8 ranks on 32 channels may take 4 each. Chunks of 128 KiB on one node: parts of at least 16 KiB, so
// 20,000 bytes make 2, of 10,000 rounded up to 12,288; a short one stays whole.
TEST(ExchangeSchedule, LongTransfersAreCutAmongChannels) {
  const CutLimits limits{.chunk = 131072, .nranks = 8, .nodes = 1, .nchannels = 32, .per_peer = 32};
  const TransferCut cut = cut_transfer(20000, limits);
  EXPECT_EQ(cut.parts, 2);
  EXPECT_EQ(cut.each, 12288);
  EXPECT_EQ(cut_transfer(100, limits).parts, 1);
  EXPECT_EQ(cut_transfer(1 << 20, limits).parts, 4);
}

// Two ranks of two hosts with one NIC each: 4 channels, 2 of them for one peer, however long it is.
TEST(ExchangeSchedule, OnePeerGetsSomeOfTheChannels) {
  CutLimits limits{.chunk = 131072, .nranks = 2, .nodes = 2, .nchannels = 4, .per_peer = 2};
  EXPECT_EQ(cut_transfer(1 << 30, limits).parts, 2);
  limits.nranks = 10;
  EXPECT_EQ(cut_transfer(100'000, limits).parts, 1);  // many ranks: one each, until parts are long
  EXPECT_EQ(cut_transfer(1 << 30, limits).parts, 2);
  limits.per_peer = 4;
  EXPECT_EQ(cut_transfer(1 << 30, limits).parts, 4);
}

}  // namespace
}  // namespace ringside
