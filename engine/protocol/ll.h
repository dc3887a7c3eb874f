#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/vocabulary.h"
#include "engine/protocol/line.h"
#include "ringside/units.h"

namespace ringside {

/// LL, low latency: lines of 8 bytes, 4 of data and behind them 4 of flag. The first line's data are the
/// step's size.
///
/// Ordering   A line is one atomic 8-byte store and one atomic 8-byte load, so flag and data are never
///            apart, on x86-64 and arm64 alike; no line is ordered against another, because each is
///            looked at for itself. Both sides are relaxed: there is nothing that they publish.
/// Flags      are the low 32 bits of step + 1. What an old, longer step left in a slot would therefore
///            pass for new after 2^32 steps. Twice on that way, in the last steps (one a slot) before the low
///            31 bits begin again, the sender writes the whole slot, and so no flag is older than 2^31 steps.
/// Efficiency 1/2, and 8 bytes less for the size.
/// source  NCCL's LL: 16-byte lines of two words and two flags, which a GPU stores at once; the size
///         needs no line there, because the receiver's kernel knows it from its arguments
struct Ll {
  static constexpr Protocol kProtocol = Protocol::LL;
  static constexpr std::uint64_t kLine = 8;
  static constexpr std::uint64_t kLineData = 4;

  /// Returns the bytes of lines that carry `size` bytes of data.
  static constexpr Bytes wire_size(Bytes size) {
    return Bytes{kLine + round_up(size.value, kLineData) / kLineData * kLine};
  }

  /// Returns the bytes from one slot to the next.
  static constexpr Bytes slot_memory(Bytes slot_size) {
    return Bytes{round_up(wire_size(slot_size).value, kSlotAlignment)};
  }

  /// Writes one step's lines.
  /// slots   that take turns
  /// shape   slot: aligned to 8 bytes, wire_size(slot_size) bytes of it; data: 1 .. slot_size; slots: a power of 2
  static void pack(std::byte* slot, Bytes slot_size, std::span<const std::byte> data,
                   std::uint64_t step, std::uint64_t slots = kSlots);

  /// Returns whether pack() writes the whole slot at this step, see Flags.
  static bool fills_slot(std::uint64_t step, std::uint64_t slots = kSlots);

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
