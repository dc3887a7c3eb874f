#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/protocol/line.h"
#include "engine/protocol/wire_lines.h"
#include "engine/transport/preamble.h"
#include "ringside/units.h"

/// The layout of slots in memory, and how a slot is split over queues. Both ends compute the same.
namespace ringside {

/// Number of slots of an LL connection. The write that frees slots costs as much as a short message, and must come
/// after half of the slots: with 8 slots, every fourth message would cost twice as much.
inline constexpr std::size_t kRdmaLlSlots = 32;

/// The layout of a connection's slots in the receiver's memory.
struct RdmaSlots {
  explicit RdmaSlots(ConnectionShape shape)
      : slots(shape.protocol == Protocol::LL ? kRdmaLlSlots : kSlots),
        longest(wire_size(shape.protocol, shape.slot_size).value),
        stride(round_up(longest, kGrain)) {}

  [[nodiscard]] std::size_t size() const { return slots * stride; }
  /// Returns the slot index of message number `count`.
  [[nodiscard]] std::size_t index(std::uint64_t count) const { return count % slots; }
  /// Returns the offset of that slot's first byte.
  [[nodiscard]] std::size_t offset(std::uint64_t count) const { return index(count) * stride; }

  /// Bytes of an LL128 line; parts begin at its multiples
  static constexpr std::size_t kGrain = 128;
  std::size_t slots;    ///< at most kRdmaLlSlots
  std::size_t longest;  ///< longest slot on the wire, bytes
  std::size_t stride;
};

/// Returns the bytes of each part except the last when a slot is split over `queues` queues.
inline std::size_t rdma_part(std::size_t bytes, std::size_t queues) {
  return round_up((bytes + queues - 1) / queues, RdmaSlots::kGrain);
}

}  // namespace ringside
