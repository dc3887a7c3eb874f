#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/vocabulary.h"
#include "engine/protocol/line.h"
#include "ringside/units.h"

namespace ringside {

/// LL, low latency: lines of 8 bytes, 4 of data followed by 4 of flag. The data of the first line is the size of the
/// step.
///
/// Ordering   A line is written by one atomic 8-byte store and read by one atomic 8-byte load, so a reader sees flag
///            and data of the same store, on x86-64 and arm64. Lines need no order among each other, because the
///            receiver checks each of them. Loads and stores are relaxed: they publish no other data.
/// Flags      are the low 32 bits of step + 1. Lines that an old, longer step left in a slot would have the flags of a
///            new step after 2^32 steps. Before the low 31 bits repeat, in the last `slots` steps (one per slot), the
///            sender therefore writes the whole slot, so that no flag in a slot is older than 2^31 steps.
/// Efficiency half of the bytes are data; 8 bytes per step hold the size
/// source  NCCL's LL: 16-byte lines of two words and two flags, which a GPU stores at once. NCCL sends no size: the
///         receiver's kernel knows it from its arguments
struct Ll {
  static constexpr Protocol kProtocol = Protocol::LL;
  static constexpr std::uint64_t kLine = 8;
  static constexpr std::uint64_t kLineData = 4;

  /// Returns the bytes of lines that carry `size` bytes of data.
  static constexpr Bytes wire_size(Bytes size) {
    return Bytes{kLine + round_up(size.value, kLineData) / kLineData * kLine};
  }

  /// Returns the distance between the starts of two slots, bytes.
  static constexpr Bytes slot_memory(Bytes slot_size) {
    return Bytes{round_up(wire_size(slot_size).value, kSlotAlignment)};
  }

  /// Writes one step's lines.
  /// slots   number of slots of the connection, which the steps use in rotation
  /// shape   slot: aligned to 8 bytes, wire_size(slot_size) bytes of it; data: 1 .. slot_size; slots: a power of 2
  static void pack(std::byte* slot, Bytes slot_size, std::span<const std::byte> data,
                   std::uint64_t step, std::uint64_t slots = kSlots);

  /// Returns whether pack() writes the whole slot at this step, see Flags.
  static bool fills_slot(std::uint64_t step, std::uint64_t slots = kSlots);

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
