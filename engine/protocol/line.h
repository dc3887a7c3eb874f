#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

/// What LL and LL128 share: a slot is a run of lines, each of which carries data and a flag that says
/// which step the data are of. A receiver that sees a line's flag has the line's data, so that a step needs no
/// counter to signal its arrival.

/// How much of a step has been taken out of its slot. A new one for each step.
struct Unpacked {
  std::uint64_t size = 0;  ///< of the step, in bytes; 0: its first line has not arrived
  std::uint64_t done = 0;  ///< of those, unpacked
};

enum class Arrival : std::uint8_t {
  Partly,  ///< ask again
  Whole,
  BadSize,  ///< the sender announced a size that no slot has; Unpacked::size holds it
};

/// A line that belongs to another step than the one it was looked for.
struct StrayFlag {
  std::uint64_t line = 0;  ///< counted from the start of the slot
  std::uint64_t found = 0;
  std::uint64_t due = 0;
};

/// Slots begin at multiples of this: a core that prefetches lines in pairs does not take its neighbour's.
inline constexpr std::uint64_t kSlotAlignment = 128;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace ringside
