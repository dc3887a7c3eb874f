#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/protocol/line.h"
#include "engine/protocol/wire_lines.h"
#include "engine/transport/preamble.h"
#include "ringside/units.h"

/// How the slots lie in memory, and how one is split over queues: the same on both ends.
namespace ringside {

/// Slots of a connection by LL. A word of freed ones costs as much as a short message, and it has to come after half of them:
/// with 8, every fourth message would cost twice.
inline constexpr std::size_t kRdmaLlSlots = 32;

struct RdmaSlots {
  explicit RdmaSlots(ConnectionShape shape)
      : slots(shape.protocol == Protocol::LL ? kRdmaLlSlots : kSlots),
        longest(wire_size(shape.protocol, shape.slot_size).value),
        stride(round_up(longest, kGrain)) {}

  [[nodiscard]] std::size_t size() const { return slots * stride; }
  /// The slot of the message that is number `count`.
  [[nodiscard]] std::size_t index(std::uint64_t count) const { return count % slots; }
  /// Of that slot's first byte.
  [[nodiscard]] std::size_t offset(std::uint64_t count) const { return index(count) * stride; }

  static constexpr std::size_t kGrain = 128;  ///< a line of LL128; parts begin at its multiples
  std::size_t slots;                          ///< at most kRdmaLlSlots
  std::size_t longest;                        ///< bytes on the wire
  std::size_t stride;
};

/// Bytes of each part but the last where a slot is split over so many queues.
inline std::size_t rdma_part(std::size_t bytes, std::size_t queues) {
  return round_up((bytes + queues - 1) / queues, RdmaSlots::kGrain);
}

}  // namespace ringside
