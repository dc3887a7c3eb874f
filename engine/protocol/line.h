#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

// The common part of LL and LL128: a slot is a sequence of lines, each with data and a flag that identifies the data's
// step. A receiver that sees a line's flag has the line's data, so no counter has to signal a step's arrival.

/// The progress of unpacking a step from its slot. Make a new one for each step.
struct Unpacked {
  std::uint64_t size = 0;  ///< size of the step, bytes; 0: its first line has not arrived
  std::uint64_t done = 0;  ///< bytes of the step that were unpacked
};

/// How much of a message has arrived.
enum class Arrival : std::uint8_t {
  Partly,  ///< call again
  Whole,
  BadSize,  ///< the sender announced a size that no slot has; Unpacked::size holds it
};

/// A line whose flag belongs to another step than the expected one.
struct StrayFlag {
  std::uint64_t line = 0;  ///< index of the line in the slot
  std::uint64_t found = 0;
  std::uint64_t due = 0;
};

/// Slots begin at multiples of this, two cache lines: a core that prefetches lines in pairs does not fetch a line of the
/// next slot, to which another core writes.
inline constexpr std::uint64_t kSlotAlignment = 128;

/// Returns the smallest multiple of `multiple` that is not less than `value`.
/// shape  multiple >= 1
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace ringside
