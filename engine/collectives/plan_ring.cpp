#include <fmt/format.h>

#include "engine/collectives/plan_parts.h"

namespace ringside {
namespace {

constexpr std::int64_t kBlockGrainBytes = 256;  // for all_gather_v

/// Blocks of any length: the start of each block and this channel's share of it, by ring position.
struct Blocks {
  std::vector<std::int64_t> bases;
  std::vector<ChannelPart> parts;
};

Blocks blocks_of(const PlanInput& input, const std::vector<Rank>& ring, int channel) {
  const std::vector<std::int64_t>& counts = input.call.counts;
  const std::int64_t grain =
      kBlockGrainBytes / static_cast<std::int64_t>(size_of(input.call.type).value);
  std::vector<std::int64_t> begins;
  std::int64_t begin = 0;
  for (const std::int64_t count : counts) {
    begins.push_back(begin);
    begin += count;
  }
  Blocks blocks;
  for (const Rank rank : ring) {
    const auto index = static_cast<std::size_t>(to_int(rank));
    blocks.bases.push_back(begins[index]);
    blocks.parts.push_back(split_channels(counts[index], input.choice.nchannels,
                                          grain)[static_cast<std::size_t>(channel)]);
  }
  return blocks;
}

}  // namespace

Result<ChannelTask> plan_ring(const PlanInput& input, int channel, const ChannelPart& part) {
  const auto index = static_cast<std::size_t>(channel);
  const RankOrder& order = input.tables.rings[index];
  const auto place_of = [&](Rank rank) {
    return input.tables.places[index][static_cast<std::size_t>(to_int(rank))];
  };
  const Ring ring{place_of(input.rank), input.nranks};
  RINGSIDE_ASSERT(ring.index >= 0, "ring {} lacks rank {}", channel, to_int(input.rank));
  ChunkMap::Shape shape = input.shape(order, part);
  Blocks blocks;
  if (input.choice.collective == Collective::AllGatherV) {
    blocks = blocks_of(input, *order, channel);
    shape.bases = blocks.bases;
    shape.parts = blocks.parts;
  }
  ChannelTask task = input.task(shape);
  task.ring = ring;
  task.root = place_of(input.call.root);
  if (ring.size > 1) {
    const auto at = [&](int position) { return (*order)[static_cast<std::size_t>(position)]; };
    task.recv_peers = {{.rank = at(ring.before(ring.index))}};
    task.send_peers = {{.rank = at(ring.after(ring.index))}};
  }
  return task;
}

}  // namespace ringside
