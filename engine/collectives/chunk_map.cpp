#include "engine/collectives/chunk_map.h"

#include <algorithm>

#include "base/assert.h"

namespace ringside {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }
std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

bool has_a_block_per_rank(Collective collective) {
  return collective == Collective::AllGather || collective == Collective::ReduceScatter ||
         collective == Collective::AllGatherV;
}

/// Piece number `piece` of a part, as long as the part lasts.
ChannelPart cut_piece(const ChannelPart& part, std::int64_t piece, std::int64_t chunk) {
  const std::int64_t done = std::min(piece * chunk, part.count);
  return {part.offset + done, std::min(chunk, part.count - done)};
}

std::int64_t longest(std::span<const ChannelPart> parts) {
  std::int64_t most = 0;
  for (const ChannelPart& part : parts) most = std::max(most, part.count);
  return most;
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
    : collective_(shape.collective),
      part_(shape.part),
      count_(shape.count),
      chunk_(shape.chunk),
      grain_(shape.grain),
      shrinks_(shape.shrinks),
      lane_(shape.lane),
      lanes_(shape.lanes),
      turns_(shape.turns),
      self_(to_int(shape.self)),
      ranks_(static_cast<int>(shape.order.size())) {
  RINGSIDE_ASSERT(ranks_ >= 1 && chunk_ >= 1 && grain_ >= 1, "n {} chunk {} grain {}", ranks_,
                  chunk_, grain_);
  std::int64_t length = part_.count;
  std::int64_t per_piece = chunk_;
  if (collective_ == Collective::AllReduce) {
    chunks_ = shape.slices == 0 ? ranks_ : shape.slices;
    per_piece = lanes_ * chunks_ * chunk_;
  } else if (has_a_block_per_rank(collective_)) {
    chunks_ = ranks_;
    owner_.assign(shape.order.begin(), shape.order.end());
    bases_.assign(shape.bases.begin(), shape.bases.end());
    parts_.assign(shape.parts.begin(), shape.parts.end());
    if (!parts_.empty()) length = longest(parts_);
  } else if (collective_ == Collective::Broadcast || collective_ == Collective::Reduce) {
    chunks_ = 1;
  } else {
    chunks_ = ranks_ * ranks_;
    parts_.assign(shape.sends.begin(), shape.sends.end());
    parts_.insert(parts_.end(), shape.recvs.begin(), shape.recvs.end());
    length = longest(parts_);
  }
  pieces_ = ceil_div(length, per_piece);
}

ChunkSpan ChunkMap::at(std::int64_t loop, int chunk) const {
  const std::int64_t piece = piece_of(loop);
  if (collective_ == Collective::AllReduce) return slice_at(piece, chunk);
  if (has_a_block_per_rank(collective_)) return block_at(piece, chunk);
  if (chunks_ != 1 || !parts_.empty()) return transfer_at(piece, chunk);
  const ChannelPart here = cut_piece(part_, piece, chunk_);
  return {here.offset, here.offset, here.count};
}

ChunkSpan ChunkMap::slice_at(std::int64_t piece, int chunk) const {
  const std::int64_t per_loop = chunks_ * chunk_;
  const std::int64_t done = std::min((piece * lanes_ + lane_) * per_loop, part_.count);
  const std::int64_t left = part_.count - done;
  const std::int64_t size =
      shrinks_ ? std::min(round_up(ceil_div(left, chunks_), grain_), chunk_) : chunk_;
  const std::int64_t begin = std::min(chunk * size, left);
  const std::int64_t offset = part_.offset + done + begin;
  return {offset, offset, std::min(size, left - begin)};
}

ChunkSpan ChunkMap::block_at(std::int64_t piece, int chunk) const {
  const auto index = static_cast<std::size_t>(chunk);
  const ChannelPart here = cut_piece(parts_.empty() ? part_ : parts_[index], piece, chunk_);
  const std::int64_t base = bases_.empty() ? to_int(owner_[index]) * count_ : bases_[index];
  if (collective_ == Collective::ReduceScatter) {
    return {base + here.offset, here.offset, here.count};
  }
  return {here.offset, base + here.offset, here.count};
}

ChunkSpan ChunkMap::transfer_at(std::int64_t piece, int chunk) const {
  const int from = chunk / ranks_;
  const int to = chunk % ranks_;
  const auto part = [&](int index) {
    return cut_piece(parts_[static_cast<std::size_t>(index)], piece, chunk_);
  };
  ChunkSpan span;
  if (to == self_) {
    const ChannelPart recv = part(ranks_ + from);
    span.output = recv.offset;
    span.count = recv.count;
  }
  if (from == self_) {
    const ChannelPart send = part(to);
    span.input = send.offset;
    span.count = send.count;
  }
  return span;
}

}  // namespace ringside
