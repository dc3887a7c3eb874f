#include "engine/collectives/chunk_map.h"

#include <algorithm>

#include "base/assert.h"

namespace ringside {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }
std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

bool has_a_block_per_rank(Collective collective) {
  return collective == Collective::AllGather || collective == Collective::ReduceScatter;
}

}  // namespace

std::vector<ChannelPart> split_channels(std::int64_t count, int nchannels, std::int64_t grain) {
  RINGSIDE_ASSERT(count >= 0 && nchannels >= 1 && grain >= 1, "{} elements, {} channels, grain {}",
                  count, nchannels, grain);
  const std::int64_t each = round_up(ceil_div(count, nchannels), grain);
  std::vector<ChannelPart> parts;
  std::int64_t offset = 0;
  for (int channel = 0; channel < nchannels; ++channel) {
    const std::int64_t take = std::min(each, count - offset);
    parts.push_back({offset, take});
    offset += take;
  }
  return parts;
}

ChunkMap::ChunkMap(const Shape& shape)
    : collective_(shape.collective), part_(shape.part), chunk_(shape.chunk), grain_(shape.grain) {
  RINGSIDE_ASSERT(!shape.order.empty() && chunk_ >= 1 && grain_ >= 1, "n {} chunk {} grain {}",
                  shape.order.size(), chunk_, grain_);
  const int n = static_cast<int>(shape.order.size());
  const bool one_chunk = collective_ == Collective::Broadcast || collective_ == Collective::Reduce;
  chunks_ = one_chunk ? 1 : n;
  if (has_a_block_per_rank(collective_)) {
    for (const Rank rank : shape.order) block_.push_back(to_int(rank) * shape.count);
  }
  const std::int64_t per_loop = collective_ == Collective::AllReduce ? n * chunk_ : chunk_;
  loops_ = ceil_div(part_.count, per_loop);
}

ChunkSpan ChunkMap::at(std::int64_t loop, int chunk) const {
  if (collective_ == Collective::AllReduce) {
    const std::int64_t done = loop * chunks_ * chunk_;
    const std::int64_t left = part_.count - done;
    const std::int64_t size =
        left < chunks_ * chunk_ ? round_up(ceil_div(left, chunks_), grain_) : chunk_;
    const std::int64_t begin = std::min(chunk * size, left);
    const std::int64_t offset = part_.offset + done + begin;
    return {offset, offset, std::min(size, left - begin)};
  }
  const std::int64_t done = loop * chunk_;
  const std::int64_t offset = part_.offset + done;
  const std::int64_t count = std::min(chunk_, part_.count - done);
  if (!has_a_block_per_rank(collective_)) return {offset, offset, count};
  const std::int64_t in_block = block_[static_cast<std::size_t>(chunk)] + offset;
  return collective_ == Collective::AllGather ? ChunkSpan{offset, in_block, count}
                                              : ChunkSpan{in_block, offset, count};
}

}  // namespace ringside
