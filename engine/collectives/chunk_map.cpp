#include "engine/collectives/chunk_map.h"

#include <algorithm>

#include "base/assert.h"

namespace ringside {
namespace {

std::int64_t longest(std::span<const ChannelPart> parts) {
  std::int64_t most = 0;
  for (const ChannelPart& part : parts) most = std::max(most, part.count);
  return most;
}

}  // namespace

std::vector<ChannelPart> split_channels(std::int64_t count, int nchannels, std::int64_t grain) {
  RINGSIDE_ASSERT(count >= 0 && nchannels >= 1 && grain >= 1, "{} elements, {} channels, grain {}",
                  count, nchannels, grain);
  const std::int64_t each = ceil_multiple(ceil_div(count, nchannels), grain);
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
    : rule_{.collective = shape.collective,
            .shrinks = shape.shrinks,
            .part = shape.part,
            .count = shape.count,
            .chunk = shape.chunk,
            .grain = shape.grain,
            .lane = shape.lane,
            .lanes = shape.lanes,
            .turns = shape.turns,
            .self = to_int(shape.self),
            .ranks = static_cast<int>(shape.order->size())} {
  const int n = rule_.ranks;
  RINGSIDE_ASSERT(n >= 1 && shape.chunk >= 1 && shape.grain >= 1, "n {} chunk {} grain {}", n,
                  shape.chunk, shape.grain);
  std::int64_t length = shape.part.count;
  std::int64_t per_piece = shape.chunk;
  if (shape.collective == Collective::AllReduce) {
    rule_.chunks = shape.slices == 0 ? n : shape.slices;
    per_piece = shape.lanes * rule_.chunks * shape.chunk;
  } else if (has_a_block_per_rank(shape.collective)) {
    rule_.chunks = n;
    owners_ = shape.order;
    bases_.assign(shape.bases.begin(), shape.bases.end());
    parts_.assign(shape.parts.begin(), shape.parts.end());
    if (!parts_.empty()) length = longest(parts_);
  } else if (is_point_to_point(shape.collective)) {
    rule_.chunks = n * n;
    rule_.send_at = -shape.first_send;
    nsends_ = static_cast<int>(shape.sends.size());
    rule_.recv_at = nsends_ - shape.first_recv;
    parts_.assign(shape.sends.begin(), shape.sends.end());
    parts_.insert(parts_.end(), shape.recvs.begin(), shape.recvs.end());
    length = longest(parts_);
  }
  rule_.pieces = ceil_div(length, per_piece);
}

bool ChunkMap::is_in_tables(int chunk) const {
  if (!is_point_to_point(rule_.collective)) return true;
  const int from = chunk / rule_.ranks;
  const int to = chunk % rule_.ranks;
  const int sent = rule_.send_at + to;
  const int received = rule_.recv_at + from;
  return (from != rule_.self || (sent >= 0 && sent < nsends_)) &&
         (to != rule_.self || (received >= nsends_ && received < std::ssize(parts_)));
}

}  // namespace ringside
