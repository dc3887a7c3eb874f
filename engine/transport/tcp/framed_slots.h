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

/// The slots of both ends of a TCP connection: each is sent as a frame (frame.h) of length and payload.
namespace ringside {

/// A slot with room for its length in front, so that one call sends both.
struct FramedSlot {
  static constexpr std::size_t kPayloadAt = 16;  ///< aligns lines to 8 bytes
  std::vector<std::byte> bytes;
  /// The payload's place in a caller's buffer; empty: after the header
  std::span<std::byte> lent = {};
  std::size_t size = 0;  ///< bytes of header and payload together
  std::size_t done = 0;  ///< bytes of those that have been sent or received

  /// Returns the memory from the header on: header and longest payload.
  [[nodiscard]] std::span<std::byte> header_on() {
    return std::span(bytes).subspan(kPayloadAt - kFrameHeader);
  }
  [[nodiscard]] std::span<std::byte> payload() {
    return lent.empty() ? header_on().first(size).subspan(kFrameHeader)
                        : lent.first(size - kFrameHeader);
  }
  /// Returns the part that has not been sent or received yet: one piece, or header and payload separately.
  [[nodiscard]] std::array<std::span<std::byte>, 2> rest() {
    if (lent.empty()) return {header_on().first(size).subspan(done)};
    const std::size_t moved = done > kFrameHeader ? done - kFrameHeader : 0;
    return {header_on().first(kFrameHeader).subspan(done - moved), payload().subspan(moved)};
  }
};

/// Sets the slot's size from its header, which has been received.
/// longest  payload
/// errors   Corrupt: the length is 0 or too large
Status read_header(FramedSlot& slot, Bytes longest);

/// The 8 slots of one end, used in rotation.
class FramedSlots {
 public:
  explicit FramedSlots(Bytes payload) {
    for (FramedSlot& slot : slots_) slot.bytes.resize(FramedSlot::kPayloadAt + payload.value);
  }
  /// Places the payloads in a caller's buffer.
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

/// Returns the staging buffer for data that is sent as lines of LL or LL128. For Simple it is empty: the data is in the
/// slot.
inline Staging staging_of(ConnectionShape shape) {
  return shape.protocol == Protocol::Simple ? Staging() : Staging(shape.slot_size);
}

}  // namespace ringside
