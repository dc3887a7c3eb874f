#include "engine/protocol/slot_fifo.h"

#include <fmt/format.h>

namespace ringside {

Bytes SlotFifo::memory_for(Bytes slot_size) { return Bytes{sizeof(Control)} + slot_size * kSlots; }

SlotFifo::SlotFifo(std::byte* memory, Bytes slot_size)
    : control_(reinterpret_cast<Control*>(memory)),
      slots_(memory + sizeof(Control)),
      slot_size_(slot_size) {
  RINGSIDE_ASSERT(slot_size.value > 0 && slot_size.value % 64 == 0, "slot of {} bytes",
                  slot_size.value);
}

std::byte* SlotFifo::slot(std::uint64_t count) const {
  return slots_ + (count % kSlots) * slot_size_.value;
}

bool SlotFifo::can_send() const {
  if (mine_ - other_seen_ < kSlots) return true;
  other_seen_ = control_->head.load(std::memory_order_acquire);
  return mine_ - other_seen_ < kSlots;
}

std::span<std::byte> SlotFifo::send_slot() const { return {slot(mine_), slot_size_.value}; }

void SlotFifo::post(Bytes size) {
  control_->sizes[mine_ % kSlots].store(static_cast<std::uint32_t>(size.value),
                                        std::memory_order_relaxed);
  control_->tail.store(++mine_, std::memory_order_release);
}

bool SlotFifo::can_receive() const {
  if (other_seen_ != mine_) return true;
  other_seen_ = control_->tail.load(std::memory_order_acquire);
  return other_seen_ != mine_;
}

Result<std::span<const std::byte>> SlotFifo::receive_slot() const {
  const std::uint32_t size = control_->sizes[mine_ % kSlots].load(std::memory_order_relaxed);
  if (size == 0 || size > slot_size_.value) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("a slot of {} bytes claims to hold {}", slot_size_.value, size)};
  }
  return std::span<const std::byte>(slot(mine_), size);
}

void SlotFifo::release() { control_->head.store(++mine_, std::memory_order_release); }

}  // namespace ringside
