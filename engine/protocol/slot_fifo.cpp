#include "engine/protocol/slot_fifo.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/protocol/size_error.h"

namespace ringside {
namespace {

constexpr int kKindShift = 30;
constexpr std::uint32_t kSizeMask = (1U << kKindShift) - 1;

}  // namespace

Bytes SlotFifo::memory_for(Bytes slot_size) { return Bytes{sizeof(Control)} + slot_size * kSlots; }

SlotFifo::SlotFifo(std::byte* memory, Bytes slot_size)
    : control_(reinterpret_cast<Control*>(memory)),
      slots_(memory + sizeof(Control)),
      slot_size_(slot_size) {
  RINGSIDE_ASSERT(slot_size.value > 0 && slot_size.value % 64 == 0 && slot_size.value <= kSizeMask,
                  "slot of {} bytes", slot_size.value);
}

std::byte* SlotFifo::slot() const { return slots_ + (mine_ % kSlots) * slot_size_.value; }

std::span<std::byte> SlotFifo::acquire() {
  if (mine_ - other_seen_ == kSlots) {
    other_seen_ = control_->head.load(std::memory_order_acquire);
    if (mine_ - other_seen_ == kSlots) return {};
  }
  return {slot(), static_cast<std::size_t>(slot_size_.value)};
}

void SlotFifo::post(Bytes size, SlotKind kind) {
  control_->sizes[mine_ % kSlots].store(
      static_cast<std::uint32_t>(size.value) | static_cast<std::uint32_t>(kind) << kKindShift,
      std::memory_order_relaxed);
  control_->tail.store(++mine_, std::memory_order_release);
}

bool SlotFifo::send(std::span<const std::byte> from) {
  const std::span<std::byte> room = acquire();
  if (room.empty()) return false;
  std::memcpy(room.data(), from.data(), from.size());
  post(Bytes{from.size()});
  return true;
}

Result<std::span<const std::byte>> SlotFifo::peek() {
  if (other_seen_ == mine_) {
    other_seen_ = control_->tail.load(std::memory_order_acquire);
    if (other_seen_ == mine_) return std::span<const std::byte>();
  }
  const std::uint32_t stored = control_->sizes[mine_ % kSlots].load(std::memory_order_relaxed);
  const std::uint32_t size = stored & kSizeMask;
  if (size == 0 || size > slot_size_.value || stored >> kKindShift > 2) {
    return bad_size(stored, slot_size_);
  }
  kind_ = static_cast<SlotKind>(stored >> kKindShift);
  return std::span<const std::byte>(slot(), size);
}

void SlotFifo::release() { control_->head.store(++mine_, std::memory_order_release); }

Result<bool> SlotFifo::take(std::span<std::byte> to) {
  RINGSIDE_TRY(const std::span<const std::byte> arrived, peek());
  if (arrived.empty()) return false;
  if (arrived.size() != to.size()) return other_size(arrived.size(), to.size());
  std::memcpy(to.data(), arrived.data(), to.size());
  release();
  return true;
}

}  // namespace ringside
