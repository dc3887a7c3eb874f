#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/words.h"
#include "engine/collectives/integers.h"

namespace ringside {

/// The position and length of a chunk.  unit  elements of the call's data type
struct ChunkSpan {
  std::int64_t input = 0;   ///< offset in this rank's input, where the primitive reads it
  std::int64_t output = 0;  ///< offset in this rank's output, where the primitive writes it
  /// 0 after the end of the data: both sides know it, and no message is sent
  std::int64_t count = 0;
  friend bool operator==(const ChunkSpan&, const ChunkSpan&) = default;
};

/// One channel's share of the call.  unit  elements
struct ChannelPart {
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

/// Returns whether each rank has its own block in the larger buffer.
RINGSIDE_HD constexpr bool has_a_block_per_rank(Collective collective) {
  return collective == Collective::AllGather || collective == Collective::ReduceScatter ||
         collective == Collective::AllGatherV;
}

/// The tables of a ChunkRule, in the caller's memory. Null: the collective does not use the table.
struct ChunkTables {
  const Rank* owners = nullptr;         ///< [chunk]: owner of the block
  const std::int64_t* bases = nullptr;  ///< all_gather_v: start of each block
  /// all_gather_v: this channel's share of each block. Point-to-point: sends to consecutive ranks, then receives from
  /// consecutive ranks (ChunkRule::send_at, recv_at)
  const ChannelPart* parts = nullptr;
};

/// The arithmetic of a ChunkMap, (loop, chunk) -> elements, as plain data. Hosts keep its tables in a ChunkMap, GPUs in
/// a DeviceTask.
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
      recv_at = 0;  ///< point-to-point: the table index of a rank is its number plus this

  [[nodiscard]] RINGSIDE_HD constexpr std::int64_t loops() const { return pieces * turns; }
  [[nodiscard]] RINGSIDE_HD constexpr std::int64_t piece_of(std::int64_t loop) const {
    return turns == 1 ? loop : loop / turns;
  }
  [[nodiscard]] RINGSIDE_HD constexpr int turn_of(std::int64_t loop) const {
    return turns == 1 ? 0 : static_cast<int>(loop % turns);
  }

  /// shape  loop 0 .. loops() - 1, number 0 .. chunks - 1; point-to-point: the transfer exists
  [[nodiscard]] RINGSIDE_HD constexpr ChunkSpan at(std::int64_t loop, int number,
                                                   const ChunkTables& tables) const {
    const std::int64_t piece = piece_of(loop);
    if (collective == Collective::AllReduce) return slice_at(piece, number);
    if (has_a_block_per_rank(collective)) return block_at(piece, number, tables);
    if (is_point_to_point(collective)) return transfer_at(piece, number, tables);
    const ChannelPart here = cut(part, piece);
    return {here.offset, here.offset, here.count};
  }

  /// Returns piece number `piece` of a part; it is empty after the part's end.
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
