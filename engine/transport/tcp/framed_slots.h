#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/protocol/slot_fifo.h"
#include "engine/protocol/staging.h"
#include "engine/transport/lent_slots.h"
#include "engine/transport/preamble.h"
#include "engine/transport/shm/shared_memory.h"
#include "engine/transport/socket/frame.h"

/// Between the two ends of tcp.h: the slots on either side.
namespace ringside {

/// A slot with room for its length in front, so that both leave in one call.
struct FramedSlot {
  static constexpr std::size_t kPayloadAt = 16;  ///< lines want to lie at multiples of 8
  std::vector<std::byte> bytes;
  std::span<std::byte> lent = {};  ///< where the payload lies instead; empty: behind its header
  std::size_t size = 0;            ///< of header and payload together
  std::size_t done = 0;            ///< of those, moved

  /// All the room: a header and the longest payload.
  [[nodiscard]] std::span<std::byte> header_on() {
    return std::span(bytes).subspan(kPayloadAt - kFrameHeader);
  }
  [[nodiscard]] std::span<std::byte> payload() {
    return lent.empty() ? header_on().first(size).subspan(kFrameHeader)
                        : lent.first(size - kFrameHeader);
  }
  /// What has not moved yet: in one piece, or header and payload apart.
  [[nodiscard]] std::array<std::span<std::byte>, 2> rest() {
    if (lent.empty()) return {header_on().first(size).subspan(done)};
    const std::size_t moved = done > kFrameHeader ? done - kFrameHeader : 0;
    return {header_on().first(kFrameHeader).subspan(done - moved), payload().subspan(moved)};
  }
};

/// Takes a slot's size from its header, which has come.
/// longest  payload
/// errors   Corrupt: no sender makes such a slot
Status read_header(FramedSlot& slot, Bytes longest);

class FramedSlots {
 public:
  explicit FramedSlots(Bytes payload) {
    for (FramedSlot& slot : slots_) slot.bytes.resize(FramedSlot::kPayloadAt + payload.value);
  }
  /// Payloads in lent memory.
  FramedSlots(Bytes payload, const LentSlots& lent) : FramedSlots(Bytes{0}) {
    check_room(lent, payload);
    const std::size_t stride = LentSlots::stride(payload);
    std::byte* next = lent.region->data() + lent.offset;
    for (FramedSlot& slot : slots_) slot.lent = {std::exchange(next, next + stride), payload.value};
  }
  FramedSlot& at(std::uint64_t count) { return slots_[count % kSlots]; }

 private:
  std::array<FramedSlot, kSlots> slots_;
};

/// Where the data of a step lie that travels as lines. Simple's lie in the slot.
inline Staging staging_of(ConnectionShape shape) {
  return shape.protocol == Protocol::Simple ? Staging() : Staging(shape.slot_size);
}

}  // namespace ringside
