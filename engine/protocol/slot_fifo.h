#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/units.h"

namespace ringside {

/// Slots of one connection, whatever carries it.
/// source  NCCL_STEPS
inline constexpr int kSlots = 8;

/// Simple in shared memory: 8 slots in a circle and two counters. The sender owns `tail` and the
/// slots from tail on, the receiver owns `head` and the slots from head to tail.
///
/// Ordering   a slot's bytes and size are stored before `tail` is (release); the receiver loads
/// `tail`
///            (acquire) before it reads them. `head` goes the other way in the same manner. That is
///            all that x86-64 and arm64 need: one writer a counter, no fence beside release and
///            acquire.
/// Ownership  the memory outlives the view; both processes map the same pages
/// shape      slot size a multiple of 64 bytes; memory zeroed before the first use, aligned to 64
/// bytes
class SlotFifo {
 public:
  static Bytes memory_for(Bytes slot_size);

  SlotFifo() = default;
  /// shape  memory holds memory_for(slot_size)
  SlotFifo(std::byte* memory, Bytes slot_size);

  // The sender's side; one thread.
  [[nodiscard]] bool can_send() const;
  [[nodiscard]] std::span<std::byte> send_slot() const;  ///< valid while can_send()
  void post(Bytes size);

  // The receiver's side; one thread.
  [[nodiscard]] bool can_receive() const;
  /// errors  Corrupt: the sender wrote a size that no slot has
  [[nodiscard]] Result<std::span<const std::byte>> receive_slot()
      const;  ///< valid while can_receive()
  void release();

  [[nodiscard]] Bytes slot_size() const { return slot_size_; }

 private:
  struct Control {
    alignas(64) std::atomic<std::uint64_t> tail;  ///< slots ever posted
    alignas(64) std::atomic<std::uint64_t> head;  ///< slots ever released
    alignas(64) std::atomic<std::uint32_t> sizes[kSlots];
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  [[nodiscard]] std::byte* slot(std::uint64_t count) const;

  Control* control_ = nullptr;
  std::byte* slots_ = nullptr;
  Bytes slot_size_;
  std::uint64_t mine_ = 0;                ///< the counter that this side owns, without the atomic
  mutable std::uint64_t other_seen_ = 0;  ///< the other side's counter when last looked at
};

}  // namespace ringside
