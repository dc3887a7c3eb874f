#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/vocabulary.h"
#include "engine/protocol/line.h"
#include "ringside/units.h"

namespace ringside {

/// LL128: lines of 128 bytes, 120 of data followed by 8 of flag, which is step + 1. The last 8 data bytes of a step's
/// first line hold the size of the step, and the step's first data bytes end right before the size. So a step of up to
/// 48 bytes is in one cache line with its flag.
///
/// Ordering   A GPU's link writes 128 bytes at once, so there the flag needs no order. A CPU does not: a line is two
///            cache lines, and a reader may see parts of a store of more than 8 or 16 bytes. So the flag is stored
///            last, with release, and loaded first, with acquire. A reader that sees the flag sees the line's data, and
///            reads it once, with plain loads.
///              x86-64  stores become visible in program order, and loads are done in program order: release and
///                      acquire are plain moves, and a line costs no more than its 16 words
///              arm64   stores may be reordered, even within a line: the release (stlr) keeps the flag after the data,
///                      and the acquire (ldar) keeps the loads of the data after the flag
/// Flags      have 64 bits and never repeat: lines of an old step are never taken for new ones
/// Efficiency 120/128 = 15/16 of the bytes are data; 8 bytes per step hold the size. LL's lines cannot be as long: LL
///            needs no order only because every CPU stores 8 bytes at once
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

  /// Returns the distance between the starts of two slots, bytes.
  static constexpr Bytes slot_memory(Bytes slot_size) { return wire_size(slot_size); }

  /// Writes one step's lines.
  /// shape   slot: aligned to 8 bytes, wire_size(slot_size) bytes of it; data: 1 .. slot_size
  static void pack(std::byte* slot, Bytes slot_size, std::span<const std::byte> data,
                   std::uint64_t step);

  /// Copies the lines that have arrived since the previous call to their place in `to`.
  /// returns  Whole: all lines of the step have been copied.  BadSize: the size is 0 or exceeds slot_size
  /// shape    slot: as pack(), only read; to: slot_size bytes, the same address in all calls for a step
  static Arrival unpack(std::byte* slot, Bytes slot_size, std::uint64_t step, std::byte* to,
                        Unpacked& so_far);

  /// Returns the size of a step whose lines have all arrived, from its first line.
  static Bytes announced_size(std::byte* slot);

  /// Returns the first of the lines whose flag is not that of this step; nullopt: all flags are right.
  /// shape   lines: aligned to 8 bytes, a multiple of kLine bytes, only read
  static std::optional<StrayFlag> find_stray(std::span<std::byte> lines, std::uint64_t step);
};

}  // namespace ringside
