#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/collectives/chunk_rule.h"

namespace ringside {

/// Cuts `count` elements into contiguous parts, one a channel, each but the last ones a multiple of
/// `grain` elements; later parts are empty when there is little to share.
std::vector<ChannelPart> split_channels(std::int64_t count, int nchannels, std::int64_t grain);

/// Ranks by the number of their chunk. Many tasks share one.
using RankOrder = std::shared_ptr<const std::vector<Rank>>;

/// Where the chunks of one channel lie: (loop, chunk) -> elements. The same on every rank, except
/// for the end of an all-gather's input and a reduce-scatter's output, which only their owner uses, and
/// for point-to-point, where each rank knows its own transfers.
///
/// all_reduce            a loop covers `slices` chunks side by side; the last loop may shrink them evenly
/// all_gather(_v)        chunk q is a piece of the output block of order[q]
/// reduce_scatter        the same on the input
/// broadcast, reduce     one chunk a loop
/// point-to-point        chunk from x n + to is a piece of the transfer from `from` to `to`
/// source  NCCL 2.30's kernels (chunk bounds), nccl.h (which rank's block lies where)
class ChunkMap {
 public:
  struct Shape {
    Collective collective = Collective::AllReduce;
    RankOrder order;         ///< whose the blocks are, by chunk number; its size is n >= 1
    std::int64_t count = 0;  ///< elements of the call: each rank's buffer, or each rank's block
    ChannelPart part;        ///< this channel's share of `count`
    std::int64_t chunk = 1;  ///< elements at most in a chunk, >= 1
    std::int64_t grain = 1;  ///< elements that a shrunken chunk is a multiple of, >= 1

    int slices = 0;       ///< all_reduce: chunks in a loop; 0: n
    bool shrinks = true;  ///< all_reduce: the last loop shares out what is left
    /// all_reduce: channels that take turns with a loop's worth each, where `part` is the whole call
    int lane = 0, lanes = 1;
    int turns = 1;  ///< loops that the algorithm takes for one piece of each block

    /// all_gather_v: where each block begins in the output, and this channel's share of it, by chunk
    std::span<const std::int64_t> bases = {};
    std::span<const ChannelPart> parts = {};

    /// point-to-point: this channel's share of what `self` sends to and receives from each rank from first_send and
    /// first_recv on; nothing to and from others
    std::span<const ChannelPart> sends = {}, recvs = {};
    int first_send = 0, first_recv = 0;
    Rank self{0};
  };

  explicit ChunkMap(const Shape& shape);

  /// How often the algorithm runs to cover the part.
  [[nodiscard]] std::int64_t loops() const { return rule_.loops(); }
  [[nodiscard]] int turns() const { return rule_.turns; }
  /// Which piece of its slice or block a chunk of this loop is: with the chunk's number, what sender and
  /// receiver agree on. (Their turns need not be the same.)
  [[nodiscard]] std::int64_t piece_of(std::int64_t loop) const { return rule_.piece_of(loop); }
  [[nodiscard]] int turn_of(std::int64_t loop) const { return rule_.turn_of(loop); }
  /// The modulus of chunk numbers.
  [[nodiscard]] int chunks() const { return rule_.chunks; }
  /// shape  loop 0 .. loops()-1, chunk 0 .. chunks()-1
  [[nodiscard]] ChunkSpan at(std::int64_t loop, int chunk) const {
    return is_in_tables(chunk) ? rule_.at(loop, chunk, tables_of()) : ChunkSpan{};
  }

  /// Whose block the chunk is part of.  shape  all_gather, all_gather_v, reduce_scatter
  [[nodiscard]] Rank owner(int chunk) const { return (*owners_)[static_cast<std::size_t>(chunk)]; }

  /// For users that carry the map elsewhere: its arithmetic and what that looks up. Empty: see ChunkTables.
  [[nodiscard]] const ChunkRule& rule() const { return rule_; }
  [[nodiscard]] std::span<const Rank> owners() const {
    return owners_ == nullptr ? std::span<const Rank>{} : std::span<const Rank>{*owners_};
  }
  [[nodiscard]] std::span<const std::int64_t> bases() const { return bases_; }
  [[nodiscard]] std::span<const ChannelPart> parts() const { return parts_; }

 private:
  /// For a transfer that does not exist the tables have nothing, and no step asks for it: only a loop over all of them does.
  [[nodiscard]] bool is_in_tables(int chunk) const;
  [[nodiscard]] ChunkTables tables_of() const {
    return {owners().data(), bases_.empty() ? nullptr : bases_.data(),
            parts_.empty() ? nullptr : parts_.data()};
  }

  ChunkRule rule_;
  RankOrder owners_;  ///< null: no block is a rank's
  std::vector<std::int64_t> bases_;
  std::vector<ChannelPart> parts_;
  int nsends_ = 0;  ///< of parts_
};

}  // namespace ringside
