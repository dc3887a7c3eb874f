#include "engine/collectives/chunk_map.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "base/vocabulary.h"

namespace ringside {
namespace {

std::vector<Rank> shuffled_ranks(int n, std::mt19937& random) {
  std::vector<Rank> order;
  for (int rank = 0; rank < n; ++rank) order.push_back(Rank{rank});
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// Returns how many chunks cover each element of the buffer that all ranks share.
std::vector<int> coverage(const ChunkMap::Shape& shape, std::int64_t buffer) {
  std::vector<int> times(static_cast<std::size_t>(buffer), 0);
  const ChunkMap map(shape);
  for (std::int64_t loop = 0; loop < map.loops(); ++loop) {
    for (int chunk = 0; chunk < map.chunks(); ++chunk) {
      const ChunkSpan span = map.at(loop, chunk);
      const std::int64_t begin =
          shape.collective == Collective::ReduceScatter ? span.input : span.output;
      for (std::int64_t i = 0; i < span.count; ++i) ++times.at(static_cast<std::size_t>(begin + i));
    }
  }
  return times;
}

// Rank 2 of 1000 sends 7 elements to rank 3 and receives 5 from rank 1: the map has a row for each of these, not
// 2,000.
TEST(ChunkMap, AnExchangeWithAFewHasRoomForThemAlone) {
  const std::vector<ChannelPart> sends{{0, 7}}, recvs{{20, 5}};
  ChunkMap::Shape shape{.collective = Collective::SendRecv,
                        .order = std::make_shared<std::vector<Rank>>(1000, Rank{0}),
                        .part = {},
                        .chunk = 100,
                        .sends = sends,
                        .recvs = recvs,
                        .first_send = 3,
                        .first_recv = 1,
                        .self = Rank{2}};
  const ChunkMap map(shape);
  EXPECT_EQ(map.parts().size(), 2U);
  EXPECT_EQ(map.at(0, 2 * 1000 + 3).count, 7);
  const ChunkSpan received = map.at(0, 1 * 1000 + 2);
  EXPECT_EQ(received.count, 5);
  EXPECT_EQ(received.output, 20);
  for (const int chunk : {2 * 1000 + 2, 2 * 1000 + 4, 0 * 1000 + 2, 999 * 1000 + 2, 5}) {
    EXPECT_EQ(map.at(0, chunk).count, 0) << chunk;
  }
}

TEST(ChunkMap, ChannelsLoopsAndChunksCoverEachElementOnceForAnySizes) {
  std::mt19937 random(20261120);
  for (int round = 0; round < 2000; ++round) {
    const auto pick = [&](int least, int most) {
      return std::uniform_int_distribution<int>(least, most)(random);
    };
    const int n = pick(1, 12);
    const std::vector<Rank> order = shuffled_ranks(n, random);
    const std::int64_t count = pick(0, 300);
    const std::int64_t grain = pick(1, 8);
    const int nchannels = pick(1, 5);
    const std::array collectives{Collective::AllReduce, Collective::AllGather,
                                 Collective::ReduceScatter, Collective::Broadcast};
    const Collective collective = collectives.at(static_cast<std::size_t>(pick(0, 3)));
    const bool blocks =
        collective == Collective::AllGather || collective == Collective::ReduceScatter;
    const std::int64_t buffer = blocks ? n * count : count;

    std::vector<int> times(static_cast<std::size_t>(buffer), 0);
    for (const ChannelPart part : split_channels(count, nchannels, grain)) {
      const auto once = coverage({.collective = collective,
                                  .order = std::make_shared<const std::vector<Rank>>(order),
                                  .count = count,
                                  .part = part,
                                  .chunk = pick(1, 40),
                                  .grain = grain},
                                 buffer);
      std::transform(times.begin(), times.end(), once.begin(), times.begin(), std::plus<>());
    }
    ASSERT_EQ(std::count(times.begin(), times.end(), 1), buffer)
        << to_string(collective) << " n " << n << " count " << count << " channels " << nchannels;
  }
}

// 4 ranks, 10 elements, chunks of 2: a loop covers 8; the last loop shares 2 elements out 1 by 1.
TEST(ChunkMap, TheLastAllReduceLoopShrinksItsChunks) {
  const std::vector<Rank> order{Rank{0}, Rank{1}, Rank{2}, Rank{3}};
  const ChunkMap map({.collective = Collective::AllReduce,
                      .order = std::make_shared<const std::vector<Rank>>(order),
                      .count = 10,
                      .part = {0, 10},
                      .chunk = 2,
                      .grain = 1});
  ASSERT_EQ(map.loops(), 2);
  EXPECT_EQ(map.at(0, 3).output, 6);
  EXPECT_EQ(map.at(1, 1).output, 9);
  EXPECT_EQ(map.at(1, 1).count, 1);
  EXPECT_EQ(map.at(1, 2).count, 0);
}

// Ring order 2, 0, 1 with 5 elements a rank: position 0 holds rank 2's block, which starts at 10.
TEST(ChunkMap, BlocksFollowTheRingOrder) {
  const std::vector<Rank> order{Rank{2}, Rank{0}, Rank{1}};
  const ChunkMap map({.collective = Collective::AllGather,
                      .order = std::make_shared<const std::vector<Rank>>(order),
                      .count = 5,
                      .part = {1, 4},
                      .chunk = 4,
                      .grain = 1});
  EXPECT_EQ(map.at(0, 0).output, 11);
  EXPECT_EQ(map.at(0, 0).input, 1);
  EXPECT_EQ(map.at(0, 1).output, 1);
}

TEST(SplitChannels, PartsTouchAndGrainsHold) {
  const auto parts = split_channels(100, 3, 16);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].count, 48);  // ceil(100 / 3) = 34, up to the grain 48
  EXPECT_EQ(parts[1].offset, 48);
  EXPECT_EQ(parts[2].count, 4);
}

}  // namespace
}  // namespace ringside
