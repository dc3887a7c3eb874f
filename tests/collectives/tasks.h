#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "engine/collectives/plan.h"

namespace ringside {

/// A task on a ring of n ranks in their natural order.
inline ChannelTask ring_task(Collective collective, int position, int n, std::int64_t count = 1,
                             int root = 0) {
  std::vector<Rank> order;
  for (int rank = 0; rank < n; ++rank) order.push_back(Rank{rank});
  return {
      {.collective = collective, .algorithm = Algorithm::Ring, .ring = {position, n}, .root = root},
      ChunkMap({.collective = collective,
                .order = std::make_shared<const std::vector<Rank>>(order),
                .count = count,
                .part = {0, count},
                .chunk = 1 << 19,
                .grain = 4})};
}

/// One call with one algorithm among ranks on hosts. Chunks have 128 floats.
struct PlannedCall {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  int nranks = 1;
  int ranks_per_node = 0;  ///< 0: one node
  int nchannels = 1;
  int slots_per_chunk = 1;
  CallShape call = {};
};

inline constexpr std::int64_t kTestChunk = 128;  // elements

/// Returns the tasks as [channel][rank]; empty after a failure.
inline std::vector<std::vector<ChannelTask>> plan_all(const PlannedCall& planned) {
  const Choice choice{.collective = planned.collective,
                      .algorithm = planned.algorithm,
                      .nchannels = planned.nchannels,
                      .slot = Bytes{kTestChunk * 4},
                      .slots_per_chunk = planned.slots_per_chunk,
                      .chunk = Bytes{kTestChunk * 4}};
  const Channels channels =
      host_channels(planned.nranks, planned.nchannels, planned.ranks_per_node);
  std::vector<std::vector<ChannelTask>> by_channel(static_cast<std::size_t>(planned.nchannels));
  for (int rank = 0; rank < planned.nranks; ++rank) {
    auto tasks = plan_channels(choice, channels, planned.call, Rank{rank});
    EXPECT_TRUE(tasks) << tasks.error().message;
    if (!tasks) return {};
    for (std::size_t channel = 0; channel < by_channel.size(); ++channel) {
      by_channel[channel].push_back(std::move((*tasks)[channel]));
    }
  }
  return by_channel;
}

}  // namespace ringside
