#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"
#include "engine/protocol/size_error.h"
#include "engine/protocol/slot_fifo.h"
#include "engine/protocol/staging.h"
#include "ringside/units.h"

namespace ringside {

/// LL or LL128 in shared memory: a ring of 8 slots of lines, and one counter of released slots. Lines is Ll or Ll128.
/// The functions are those of SlotFifo.
///
/// Ordering   the lines' flags signal arrival: see Ll and Ll128. The receiver stores `head` with release after its last
///            load from a slot, once per step. The sender loads `head` (acquire) only when all 8 slots are in use, so
///            most messages touch no counter
/// Threads    one on each side
/// Ownership  the memory outlives the view; both processes map the same pages. acquire() and peek() return a buffer of
///            this process, so send() and take(), which do without it, save a copy
/// shape      memory zeroed before the first use, aligned to 128 bytes; slot size any
template <typename Lines>
class LineFifo {
 public:
  static constexpr Protocol kProtocol = Lines::kProtocol;

  static Bytes memory_for(Bytes slot_size) {
    return Bytes{sizeof(Control)} + Lines::slot_memory(slot_size) * kSlots;
  }

  /// shape       memory holds memory_for(slot_size)
  /// first_step  number of the first step, equal on both sides; flags are derived from it
  LineFifo(std::byte* memory, Bytes slot_size, std::uint64_t first_step = 0)
      : control_(reinterpret_cast<Control*>(memory)),
        slots_(memory + sizeof(Control)),
        stride_(Lines::slot_memory(slot_size).value),
        slot_size_(slot_size),
        first_step_(first_step),
        staging_(slot_size) {}

  [[nodiscard]] std::span<std::byte> acquire() {
    return has_free_slot() ? staging_.bytes() : std::span<std::byte>();
  }

  void post(Bytes size) { pack(staging_.bytes().first(size.value)); }

  bool send(std::span<const std::byte> from) {
    if (!has_free_slot()) return false;
    pack(from);
    return true;
  }

  /// Returns the next message; empty if it has not arrived completely.
  /// errors  Corrupt: its size is 0 or exceeds the slot
  Result<std::span<const std::byte>> peek() {
    switch (Lines::unpack(slot(), slot_size_, step(), staging_.bytes().data(), so_far_)) {
      case Arrival::Partly:
        return std::span<const std::byte>();
      case Arrival::Whole:
        return std::span<const std::byte>(staging_.bytes().first(so_far_.size));
      case Arrival::BadSize:
        break;
    }
    return refuse_size();
  }

  void release() {
    so_far_ = {};
    control_->head.store(++count_, std::memory_order_release);
  }

  /// After false, call it again with the same `to`, without peek() in between.
  /// returns  whether the message has arrived completely
  /// errors   InvalidArgument: its size is not that of `to`.  Corrupt: as peek()
  Result<bool> take(std::span<std::byte> to) {
    const Arrival arrival = Lines::unpack(slot(), Bytes{to.size()}, step(), to.data(), so_far_);
    if (arrival == Arrival::Partly) return false;
    if (arrival == Arrival::BadSize || so_far_.size != to.size()) return refuse_size(to.size());
    release();
    return true;
  }

  /// Does not affect a take() in progress: it checks the lines separately.
  [[nodiscard]] bool has_arrived() {
    Unpacked own;
    return Lines::unpack(slot(), slot_size_, step(), staging_.bytes().data(), own) !=
           Arrival::Partly;
  }

  [[nodiscard]] Bytes slot_size() const { return slot_size_; }

 private:
  struct Control {
    alignas(kSlotAlignment) std::atomic<std::uint64_t> head;  ///< slots ever released
  };

  [[nodiscard]] std::uint64_t step() const { return first_step_ + count_; }
  [[nodiscard]] std::byte* slot() const { return slots_ + (count_ % kSlots) * stride_; }

  bool has_free_slot() {
    if (count_ - head_seen_ < kSlots) return true;
    head_seen_ = control_->head.load(std::memory_order_acquire);
    return count_ - head_seen_ < kSlots;
  }

  void pack(std::span<const std::byte> data) {
    Lines::pack(slot(), slot_size_, data, step());
    ++count_;
  }

  /// The slot stays as it is, so that asking again gives the same answer.
  Error refuse_size(std::uint64_t expected = 0) {
    const std::uint64_t size = std::exchange(so_far_, {}).size;
    if (size == 0 || size > slot_size_.value) return bad_size(size, slot_size_);
    return other_size(size, expected);
  }

  Control* control_;
  std::byte* slots_;
  std::uint64_t stride_;
  Bytes slot_size_;
  std::uint64_t first_step_;
  std::uint64_t count_ = 0;  ///< steps that this side has posted or released
  std::uint64_t head_seen_ = 0;
  Unpacked so_far_;
  Staging staging_;
};

}  // namespace ringside
