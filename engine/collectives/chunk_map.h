#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/collectives/chunk_rule.h"

namespace ringside {

/// Splits `count` elements into contiguous parts, one per channel. All parts except the last non-empty one are
/// multiples of `grain` elements; later parts are empty if there are few elements.
std::vector<ChannelPart> split_channels(std::int64_t count, int nchannels, std::int64_t grain);

/// [chunk number]: rank. Many tasks share one.
using RankOrder = std::shared_ptr<const std::vector<Rank>>;

/// Maps the chunks of one channel to elements: (loop, chunk) -> ChunkSpan. The map is the same on every rank, except
/// for the input offset of an all-gather and the output offset of a reduce-scatter, which only the owner uses, and for
/// point-to-point, where each rank knows only its own transfers.
///
/// all_reduce            a loop covers `slices` adjacent chunks; the last loop may shrink them evenly
/// all_gather(_v)        chunk q is a piece of the output block of order[q]
/// reduce_scatter        chunk q is a piece of the input block of order[q]
/// broadcast, reduce     one chunk per loop
/// point-to-point        chunk from x n + to is a piece of the transfer from `from` to `to`
/// source  NCCL 2.30's kernels (chunk bounds), nccl.h (positions of the blocks)
class ChunkMap {
 public:
  struct Shape {
    Collective collective = Collective::AllReduce;
    RankOrder order;         ///< [chunk number]: owner of the block; its size is n >= 1
    std::int64_t count = 0;  ///< elements of the call: each rank's buffer, or each rank's block
    ChannelPart part;        ///< this channel's share of `count`
    std::int64_t chunk = 1;  ///< most elements in a chunk, >= 1
    std::int64_t grain = 1;  ///< a shrunken chunk is a multiple of this many elements, >= 1

    int slices = 0;       ///< all_reduce: chunks in a loop; 0: n
    bool shrinks = true;  ///< all_reduce: the last loop divides the remaining elements evenly
    /// all_reduce: `lanes` channels process the loops of `part` (then the whole call) in rotation; this channel is
    /// number `lane`
    int lane = 0, lanes = 1;
    int turns = 1;  ///< loops that the algorithm needs for one piece of each block

    /// all_gather_v: [chunk]: start of the block in the output, and this channel's share of the block
    std::span<const std::int64_t> bases = {};
    std::span<const ChannelPart> parts = {};

    /// point-to-point: this channel's share of each transfer of `self`: to consecutive ranks from first_send on, and
    /// from consecutive ranks from first_recv on. There are no other transfers
    std::span<const ChannelPart> sends = {}, recvs = {};
    int first_send = 0, first_recv = 0;
    Rank self{0};
  };

  explicit ChunkMap(const Shape& shape);

  /// Returns how often the algorithm runs to cover the part.
  [[nodiscard]] std::int64_t loops() const { return rule_.loops(); }
  [[nodiscard]] int turns() const { return rule_.turns; }
  /// Returns the number of the piece of a slice or block that a chunk of this loop is. Sender and receiver of a chunk
  /// agree on its piece and its number; their turns may differ.
  [[nodiscard]] std::int64_t piece_of(std::int64_t loop) const { return rule_.piece_of(loop); }
  [[nodiscard]] int turn_of(std::int64_t loop) const { return rule_.turn_of(loop); }
  /// Returns the modulus of chunk numbers.
  [[nodiscard]] int chunks() const { return rule_.chunks; }
  /// shape  loop 0 .. loops()-1, chunk 0 .. chunks()-1
  [[nodiscard]] ChunkSpan at(std::int64_t loop, int chunk) const {
    return is_in_tables(chunk) ? rule_.at(loop, chunk, tables_of()) : ChunkSpan{};
  }

  /// Returns the owner of the block that contains the chunk.  shape  all_gather, all_gather_v, reduce_scatter
  [[nodiscard]] Rank owner(int chunk) const { return (*owners_)[static_cast<std::size_t>(chunk)]; }

  /// Returns the map's arithmetic and its tables, for code that copies the map to a GPU. Empty tables: see ChunkTables.
  [[nodiscard]] const ChunkRule& rule() const { return rule_; }
  [[nodiscard]] std::span<const Rank> owners() const {
    return owners_ == nullptr ? std::span<const Rank>{} : std::span<const Rank>{*owners_};
  }
  [[nodiscard]] std::span<const std::int64_t> bases() const { return bases_; }
  [[nodiscard]] std::span<const ChannelPart> parts() const { return parts_; }

 private:
  /// Returns whether the tables contain the chunk. They lack transfers that do not exist; no step uses those, but loops
  /// over all chunks do.
  [[nodiscard]] bool is_in_tables(int chunk) const;
  [[nodiscard]] ChunkTables tables_of() const {
    return {owners().data(), bases_.empty() ? nullptr : bases_.data(),
            parts_.empty() ? nullptr : parts_.data()};
  }

  ChunkRule rule_;
  RankOrder owners_;  ///< null: the collective has no block per rank
  std::vector<std::int64_t> bases_;
  std::vector<ChannelPart> parts_;
  int nsends_ = 0;  ///< number of sends in parts_
};

}  // namespace ringside
