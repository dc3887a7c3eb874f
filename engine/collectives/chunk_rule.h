#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/words.h"
#include "engine/collectives/integers.h"

namespace ringside {

/// The elements of a chunk. unit  elements of the call's data type
struct ChunkSpan {
  std::int64_t input = 0;   ///< offset in this rank's input, where the primitive reads it
  std::int64_t output = 0;  ///< offset in this rank's output, where the primitive writes it
  std::int64_t count = 0;   ///< 0 at the ragged end: both sides know it, nothing travels
  friend bool operator==(const ChunkSpan&, const ChunkSpan&) = default;
};

/// One channel's share of the call.  unit  elements
struct ChannelPart {
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

/// Whether each rank has a block of its own in the larger of the buffers.
RINGSIDE_HD constexpr bool has_a_block_per_rank(Collective collective) {
  return collective == Collective::AllGather || collective == Collective::ReduceScatter ||
         collective == Collective::AllGatherV;
}

/// What a ChunkRule looks up, in memory of its user. Null where the collective has none of it.
struct ChunkTables {
  const Rank* owners = nullptr;         ///< of blocks
  const std::int64_t* bases = nullptr;  ///< all_gather_v: where each block begins
  /// all_gather_v: this channel's share of each block; point-to-point: what is sent to ranks from one on, then what
  /// is received from ranks from another on (ChunkRule::send_at, recv_at)
  const ChannelPart* parts = nullptr;
};

/// The arithmetic of a ChunkMap, (loop, chunk) -> elements, as plain data: hosts keep the tables in a ChunkMap,
/// GPUs in a DeviceTask's.
struct ChunkRule {
  Collective collective = Collective::AllReduce;
  bool shrinks = true;
  ChannelPart part = {};
  std::int64_t count = 0;
  std::int64_t chunk = 1;
  std::int64_t grain = 1;
  std::int64_t pieces = 0;
  int lane = 0, lanes = 1;
  int turns = 1;
  int self = 0;
  int ranks = 1;
  int chunks = 1;
  int send_at = 0,
      recv_at = 0;  ///< point-to-point: by so much a rank's place in the table is off its number

  [[nodiscard]] RINGSIDE_HD constexpr std::int64_t loops() const { return pieces * turns; }
  [[nodiscard]] RINGSIDE_HD constexpr std::int64_t piece_of(std::int64_t loop) const {
    return turns == 1 ? loop : loop / turns;
  }
  [[nodiscard]] RINGSIDE_HD constexpr int turn_of(std::int64_t loop) const {
    return turns == 1 ? 0 : static_cast<int>(loop % turns);
  }

  /// shape  loop 0 .. loops() - 1, number 0 .. chunks - 1; point-to-point: of a transfer that is there
  [[nodiscard]] RINGSIDE_HD constexpr ChunkSpan at(std::int64_t loop, int number,
                                                   const ChunkTables& tables) const {
    const std::int64_t piece = piece_of(loop);
    if (collective == Collective::AllReduce) return slice_at(piece, number);
    if (has_a_block_per_rank(collective)) return block_at(piece, number, tables);
    if (is_point_to_point(collective)) return transfer_at(piece, number, tables);
    const ChannelPart here = cut(part, piece);
    return {here.offset, here.offset, here.count};
  }

  /// Piece number `piece` of a part, as long as the part lasts.
  [[nodiscard]] RINGSIDE_HD constexpr ChannelPart cut(const ChannelPart& whole,
                                                      std::int64_t piece) const {
    const std::int64_t done = smaller(piece * chunk, whole.count);
    return {whole.offset + done, smaller(chunk, whole.count - done)};
  }

  [[nodiscard]] RINGSIDE_HD constexpr ChunkSpan slice_at(std::int64_t piece, int number) const {
    const std::int64_t per_loop = chunks * chunk;
    const std::int64_t done = smaller((piece * lanes + lane) * per_loop, part.count);
    const std::int64_t left = part.count - done;
    const std::int64_t size =
        shrinks ? smaller(ceil_multiple(ceil_div(left, chunks), grain), chunk) : chunk;
    const std::int64_t begin = smaller(number * size, left);
    const std::int64_t offset = part.offset + done + begin;
    return {offset, offset, smaller(size, left - begin)};
  }

  [[nodiscard]] RINGSIDE_HD constexpr ChunkSpan block_at(std::int64_t piece, int number,
                                                         const ChunkTables& tables) const {
    const ChannelPart here = cut(tables.parts == nullptr ? part : tables.parts[number], piece);
    const std::int64_t base =
        tables.bases == nullptr ? to_int(tables.owners[number]) * count : tables.bases[number];
    if (collective == Collective::ReduceScatter) {
      return {base + here.offset, here.offset, here.count};
    }
    return {here.offset, base + here.offset, here.count};
  }

  [[nodiscard]] RINGSIDE_HD constexpr ChunkSpan transfer_at(std::int64_t piece, int number,
                                                            const ChunkTables& tables) const {
    const int from = number / ranks;
    const int to = number % ranks;
    ChunkSpan span;
    if (to == self) {
      const ChannelPart recv = cut(tables.parts[recv_at + from], piece);
      span.output = recv.offset;
      span.count = recv.count;
    }
    if (from == self) {
      const ChannelPart send = cut(tables.parts[send_at + to], piece);
      span.input = send.offset;
      span.count = send.count;
    }
    return span;
  }
};

}  // namespace ringside
