#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/vocabulary.h"
#include "engine/protocol/line.h"
#include "ringside/units.h"

namespace ringside {

/// LL128: lines of 128 bytes, 120 of data and behind them 8 of flag, which is step + 1. The last 8 data
/// bytes of a step's first line are its size, and the data in front of them end there: what is no longer
/// than 48 bytes lies in one cache line with its flag.
///
/// Ordering   A GPU's link writes 128 bytes at once, so there the flag needs no order. No CPU does: a line
///            is two cache lines, and wider stores than 8 or 16 bytes may be seen in pieces. So the
///            flag is stored last, with release, and loaded first, with acquire. A reader that sees it sees the
///            line's data, and reads them once, with plain loads.
///              x86-64  stores are seen in the order of the program, loads done in it; release and acquire are
///                      plain moves, and the line costs no more than its 16 words
///              arm64   stores may pass each other, even within a line: the release (stlr) holds the flag
///                      back behind the data, the acquire (ldar) holds the data's loads behind it
/// Flags      of 64 bits do not come again: what an old step left never passes for new.
/// Efficiency 120/128 = 15/16, and 8 bytes less for the size. LL's lines cannot be as long: they need
///            no order only because 8 bytes are what every CPU stores at once.
/// source  NCCL's LL128, whose kernel knows the size from its arguments
struct Ll128 {
  static constexpr Protocol kProtocol = Protocol::LL128;
  static constexpr std::uint64_t kLine = 128;
  static constexpr std::uint64_t kLineData = 120;
  static constexpr std::uint64_t kFirstLineData = kLineData - sizeof(std::uint64_t);

  /// Returns the bytes of lines that carry `size` bytes of data.
  static constexpr Bytes wire_size(Bytes size) {
    return Bytes{round_up(size.value + kLineData - kFirstLineData, kLineData) / kLineData * kLine};
  }

  /// Returns the bytes from one slot to the next.
  static constexpr Bytes slot_memory(Bytes slot_size) { return wire_size(slot_size); }

  /// Writes one step's lines.
  /// shape   slot: aligned to 8 bytes, wire_size(slot_size) bytes of it; data: 1 .. slot_size
  static void pack(std::byte* slot, Bytes slot_size, std::span<const std::byte> data,
                   std::uint64_t step);

  /// Takes out what has arrived since it was last asked, and puts it where it belongs behind `to`.
  /// shape   slot: as pack(), only read; to: slot_size bytes, the same ones for all of a step
  static Arrival unpack(std::byte* slot, Bytes slot_size, std::uint64_t step, std::byte* to,
                        Unpacked& so_far);

  /// Returns the size that a whole step's first line holds.
  static Bytes announced_size(std::byte* slot);

  /// Returns the first of the whole lines whose flag is not this step's.
  /// shape   lines: aligned to 8 bytes, a multiple of kLine bytes, only read
  static std::optional<StrayFlag> find_stray(std::span<std::byte> lines, std::uint64_t step);
};

}  // namespace ringside
