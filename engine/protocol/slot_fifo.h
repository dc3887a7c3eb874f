#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/vocabulary.h"
#include "ringside/units.h"

namespace ringside {

/// The content of a slot: the bytes themselves; a transport's reference to them; or nothing, because the bytes are
/// already at the receiver's destination.
enum class SlotKind : std::uint8_t { Bytes = 0, Reference = 1, Landed = 2 };

/// Simple in shared memory: a ring of 8 slots and two counters. The sender owns `tail` and the slots from tail on, the
/// receiver owns `head` and the slots from head to tail. LineFifo is the same for LL and LL128.
///
/// Ordering   a slot's bytes and size are stored before `tail` is (release); the receiver loads `tail`
///            (acquire) before it reads them. `head` works the same way in the other direction. x86-64 and arm64 need
///            no other fences, since each counter has one writer.
/// Threads    one on each side
/// Ownership  the memory outlives the view; both processes map the same pages
/// shape      slot size a multiple of 64 bytes, below 1 GiB; memory zeroed before the first use, aligned to 128 bytes
class SlotFifo {
 public:
  static constexpr Protocol kProtocol = Protocol::Simple;
  static Bytes memory_for(Bytes slot_size);

  /// shape  memory holds memory_for(slot_size)
  SlotFifo(std::byte* memory, Bytes slot_size);

  // The sender's side.

  /// Returns the next slot, or an empty span while all 8 are in flight.
  [[nodiscard]] std::span<std::byte> acquire();
  /// Posts the slot of acquire().  shape  1 .. slot_size()
  void post(Bytes size, SlotKind kind = SlotKind::Bytes);
  /// Copies a message into the next slot and posts it.  shape  1 .. slot_size() bytes
  /// returns  false: no slot is free
  bool send(std::span<const std::byte> from);
  /// Returns whether the receiver has released all posted slots.
  [[nodiscard]] bool is_all_released() const {
    return control_->head.load(std::memory_order_acquire) == mine_;
  }

  // The receiver's side.

  /// Returns the oldest slot that has arrived, or an empty span.
  /// errors  Corrupt: the sender wrote a size that no slot has
  Result<std::span<const std::byte>> peek();
  /// Returns the kind of the slot that peek() returned last.
  [[nodiscard]] SlotKind kind() const { return kind_; }
  /// Releases the slot that peek() returned.
  void release();
  /// returns  false: nothing has arrived
  /// errors   Corrupt: as peek(); InvalidArgument: the slot does not hold as many bytes as `to`
  Result<bool> take(std::span<std::byte> to);

  /// Returns whether a slot has arrived, without taking it.
  [[nodiscard]] bool has_arrived() const {
    return control_->tail.load(std::memory_order_acquire) != mine_;
  }

  [[nodiscard]] Bytes slot_size() const { return slot_size_; }

 private:
  /// The data that a waiting receiver polls is in cache lines separate from the data that a waiting sender polls.
  struct Control {
    alignas(128) std::atomic<std::uint64_t> tail;  ///< slots ever posted
    std::atomic<std::uint32_t> sizes[kSlots];  ///< bytes; the two highest bits hold the SlotKind
    alignas(128) std::atomic<std::uint64_t> head;  ///< slots ever released
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  [[nodiscard]] std::byte* slot() const;

  Control* control_;
  std::byte* slots_;
  Bytes slot_size_;
  std::uint64_t mine_ = 0;        ///< the counter that this side owns, without the atomic
  std::uint64_t other_seen_ = 0;  ///< the other side's counter when last looked at
  SlotKind kind_ = SlotKind::Bytes;
};

}  // namespace ringside
