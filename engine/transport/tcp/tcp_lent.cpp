#include "engine/transport/tcp/tcp_lent.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "engine/transport/shm/shared_memory.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/tcp/framed_slots.h"

namespace ringside {
namespace {

class LentTcpRecvEnd final : public RecvEnd {
 public:
  LentTcpRecvEnd(UniqueFd peer, ConnectionShape shape, LentSlots lent)
      : peer_(std::move(peer)),
        shape_(shape),
        lent_(std::move(lent)),
        slots_(shape.slot_size, lent_) {}

  Result<std::span<const std::byte>> peek() override {
    if (arrived_ == released_) RINGSIDE_TRY(progress());
    is_held_ = arrived_ != released_;
    if (!is_held_) return std::span<const std::byte>();
    return std::span<const std::byte>(slots_.at(released_).payload());
  }

  Status release() override {
    if (!std::exchange(is_held_, false)) {
      return Error{ErrorCode::InvalidArgument, "release of a slot that is not held"};
    }
    slots_.at(released_++).done = 0;
    return {};
  }

  Status progress() override {
    if (aborted_.load(std::memory_order_relaxed)) {
      return Error{ErrorCode::Aborted, "the connection was aborted"};
    }
    RINGSIDE_TRY(const bool is_introduced, recv_preamble());
    if (!is_introduced) return {};
    while (arrived_ - released_ < kSlots) {
      const std::uint64_t before = arrived_;
      RINGSIDE_TRY(const bool is_all, recv_slot());
      // Returning a slot now is better than reading the next one.
      if (is_all || arrived_ != before) return {};
    }
    return {};
  }

  // A read shows a closed or reset socket, and a waiting rank reads all the time.
  Status check_peer() override { return {}; }
  void abort() noexcept override { aborted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Bytes slot_size() const override { return shape_.slot_size; }
  [[nodiscard]] LentUse lent() const override { return tcp_use_of(lent_); }
  [[nodiscard]] std::uint64_t arrived() const override { return arrived_; }

 private:
  /// returns  whether the whole preamble has arrived; checks that it is the expected one
  Result<bool> recv_preamble() {
    while (introduced_ < kPreamble) {
      RINGSIDE_TRY(const std::size_t moved,
                   recv_some(peer_.get(), std::span(preamble_).subspan(introduced_)));
      if (moved == 0) return false;
      introduced_ += moved;
      if (introduced_ == kPreamble) RINGSIDE_TRY(check_preamble(preamble_, shape_));
    }
    return true;
  }

  /// Makes one system call.
  /// returns  whether the kernel has no more data
  Result<bool> recv_slot() {
    FramedSlot& slot = slots_.at(arrived_);
    const std::size_t before = slot.done;
    if (before < kFrameHeader) {
      const std::span<std::byte> header = slot.header_on().first(kFrameHeader).subspan(before);
      RINGSIDE_TRY(const std::size_t moved, recv_some(peer_.get(), header));
      slot.done += moved;
      if (moved < header.size()) return true;
      RINGSIDE_TRY(read_header(slot, shape_.slot_size));
      return false;
    }
    const bool has_next = arrived_ + 1 - released_ < kSlots;
    FramedSlot& next = slots_.at(arrived_ + 1);
    std::array<std::span<std::byte>, 2> room{slot.rest()[1]};
    if (has_next) room[1] = next.header_on().first(kFrameHeader);
    RINGSIDE_TRY(const std::size_t moved, recv_some(peer_.get(), room));
    const std::size_t own = std::min(moved, room[0].size());
    slot.done += own;
    if (slot.done < slot.size) return true;
    ++arrived_;
    if (has_next) next.done = moved - own;
    if (has_next && next.done == kFrameHeader) RINGSIDE_TRY(read_header(next, shape_.slot_size));
    return moved < room[0].size() + room[1].size();
  }

  UniqueFd peer_;
  ConnectionShape shape_;
  std::array<std::byte, kPreamble> preamble_{};
  std::size_t introduced_ = 0;  ///< bytes of the peer's preamble that were received
  LentSlots lent_;
  FramedSlots slots_;
  std::uint64_t arrived_ = 0;
  std::uint64_t released_ = 0;
  bool is_held_ = false;
  std::atomic<bool> aborted_{false};
};

}  // namespace

LentSlots tcp_lent_of(const Joint& joint) {
  if (joint.shape.protocol != Protocol::Simple) return {};
  const auto found = std::ranges::find_if(
      joint.lent, [](const LentSlots& offer) { return !offer.region->is_device(); });
  return found == joint.lent.end() ? LentSlots{} : *found;
}

LentUse tcp_use_of(const LentSlots& lent) {
  return lent.region == nullptr ? LentUse{} : LentUse{lent.region.get(), "slots in place"};
}

std::unique_ptr<RecvEnd> make_tcp_lent_recv_end(UniqueFd peer, ConnectionShape shape,
                                                LentSlots lent) {
  return std::make_unique<LentTcpRecvEnd>(std::move(peer), shape, std::move(lent));
}

}  // namespace ringside
