#pragma once

#include <cstdint>

#include "engine/collectives/integers.h"

/// Ports are numbered separately for receiving and for sending. Algorithms use only the numbers; the task's tables
/// (engine/collectives/peers.h) map them to peers.
namespace ringside {

/// A set of ports: first + i for each bit i of `bits`. The default is port 0 only, the single port of a ring.
struct Ports {
  std::uint16_t first = 0;
  std::uint16_t bits = 1;
  friend bool operator==(const Ports&, const Ports&) = default;

  [[nodiscard]] RINGSIDE_HD constexpr bool is_empty() const { return bits == 0; }
  [[nodiscard]] RINGSIDE_HD constexpr int count() const { return count_bits(bits); }
};

inline constexpr int kMaxPortsInSet = 16;
inline constexpr Ports kNoPorts{0, 0};

RINGSIDE_HD constexpr Ports port(int number) { return {static_cast<std::uint16_t>(number), 1}; }

/// shape  count 0 .. kMaxPortsInSet
RINGSIDE_HD constexpr Ports ports_from(int first, int count) {
  return {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>((1U << count) - 1)};
}

/// Calls visit(port) in the order of their numbers, which is the order of reduction.
template <typename Visit>
RINGSIDE_HD constexpr void for_each_port(Ports ports, Visit&& visit) {
  int number = ports.first;
  for (unsigned bits = ports.bits; bits != 0; bits >>= 1, ++number) {
    if ((bits & 1U) != 0) visit(number);
  }
}

}  // namespace ringside
