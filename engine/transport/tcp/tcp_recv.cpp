#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "engine/protocol/wire_lines.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/tcp/framed_slots.h"
#include "engine/transport/tcp/striped.h"
#include "engine/transport/tcp/tcp.h"
#include "engine/transport/tcp/tcp_lent.h"

namespace ringside {
namespace {

class TcpRecvEnd final : public RecvEnd {
 public:
  TcpRecvEnd(UniqueFd peer, ConnectionShape shape)
      : peer_(std::move(peer)),
        shape_(shape),
        slots_(wire_size(shape.protocol, shape.slot_size)),
        staging_(staging_of(shape)) {}

  Result<std::span<const std::byte>> peek() override {
    if (!held_.empty()) return held_;
    if (arrived_ == released_) RINGSIDE_TRY(progress());
    if (arrived_ == released_) return std::span<const std::byte>();
    RINGSIDE_TRY(held_,
                 unpack_wire(shape_.protocol, slots_.at(released_).payload(), released_,
                             shape_.protocol == Protocol::Simple ? slots_.at(released_).payload()
                                                                 : staging_.bytes()));
    return held_;
  }

  Status release() override {
    if (held_.empty()) {
      return Error{ErrorCode::InvalidArgument, "release of a slot that is not held"};
    }
    held_ = {};
    slots_.at(released_++).done = 0;
    if (!std::exchange(has_surplus_, false)) return {};
    // The freed slot is the one to which the surplus data belongs.
    carry_over();
    return count_arrived();
  }

  Status progress() override {
    if (aborted_.load(std::memory_order_relaxed)) {
      return Error{ErrorCode::Aborted, "the connection was aborted"};
    }
    RINGSIDE_TRY(const bool is_introduced, recv_preamble());
    if (!is_introduced) return {};
    while (arrived_ - released_ < kSlots) {
      const std::uint64_t before = arrived_;
      RINGSIDE_TRY(const bool is_all, recv_slots());
      // Returning a slot now is better than reading the next one.
      if (is_all || arrived_ != before) return {};
    }
    return {};
  }

  // A read shows a closed or reset socket, and a waiting rank reads all the time.
  Status check_peer() override { return {}; }

  void abort() noexcept override { aborted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Bytes slot_size() const override { return shape_.slot_size; }

 private:
  /// returns  whether the whole preamble has arrived; checks that it is the expected one
  Result<bool> recv_preamble() {
    while (introduced_ < kPreamble) {
      RINGSIDE_TRY(const std::size_t moved,
                   recv_some(peer_.get(), std::span(preamble_).subspan(introduced_)));
      if (moved == 0) return false;
      introduced_ += moved;
    }
    if (!is_agreed_) RINGSIDE_TRY(check_preamble(preamble_, shape_));
    is_agreed_ = true;
    return true;
  }

  /// Makes one system call.
  /// returns  whether the kernel has no more data
  Result<bool> recv_slots() {
    FramedSlot& slot = slots_.at(arrived_);
    const bool has_next = arrived_ + 1 - released_ < kSlots;
    const bool is_sized = slot.done >= kFrameHeader;
    std::array<std::span<std::byte>, 2> room{
        // The size is not known yet, so the read may go past the slot's end: surplus data belongs to the next slot.
        slot.header_on()
            .first(is_sized   ? slot.size
                   : has_next ? slot.header_on().size()
                              : kFrameHeader)
            .subspan(slot.done)};
    if (is_sized && has_next) room[1] = slots_.at(arrived_ + 1).header_on();
    RINGSIDE_TRY(std::size_t moved, recv_some(peer_.get(), room));
    const bool is_all = moved < room[0].size() + room[1].size();
    const std::size_t own = std::min(moved, room[0].size());
    slot.done += own;
    if (moved > own) slots_.at(arrived_ + 1).done = moved - own;
    RINGSIDE_TRY(count_arrived());
    return is_all;
  }

  /// Finds the ends of slots in the received data.
  Status count_arrived() {
    while (arrived_ - released_ < kSlots) {
      FramedSlot& slot = slots_.at(arrived_);
      if (slot.done < kFrameHeader) return {};
      RINGSIDE_TRY(read_header(slot, wire_size(shape_.protocol, shape_.slot_size)));
      if (slot.done < slot.size) return {};
      ++arrived_;
      if (slot.done == slot.size) continue;
      // One read may bring more short slots than there is room for: the last one keeps the surplus.
      if (arrived_ - released_ == kSlots) {
        has_surplus_ = true;
        return {};
      }
      carry_over();
    }
    return {};
  }

  /// Moves data that was read past the end of the last slot into the next one.
  void carry_over() {
    FramedSlot& last = slots_.at(arrived_ - 1);
    FramedSlot& next = slots_.at(arrived_);
    next.done = last.done - last.size;
    std::memcpy(next.header_on().data(), last.header_on().data() + last.size, next.done);
    last.done = last.size;
  }

  UniqueFd peer_;
  ConnectionShape shape_;
  std::array<std::byte, kPreamble> preamble_{};
  std::size_t introduced_ = 0;  ///< bytes of the peer's preamble that were received
  bool is_agreed_ = false;
  FramedSlots slots_;
  Staging staging_;
  std::uint64_t arrived_ = 0;
  std::uint64_t released_ = 0;
  bool has_surplus_ = false;         ///< all slots are full, and the last one holds surplus data
  std::span<const std::byte> held_;  ///< data of slot released_ after peek() returned it
  std::atomic<bool> aborted_{false};
};

}  // namespace

Result<std::unique_ptr<RecvEnd>> make_tcp_recv_end(Joint joint) {
  enable_keepalive(joint.peer.get(), Attention::Late);
  const std::string own = joint.state == nullptr ? std::string() : joint.state->address();
  const SocketCounts counts = socket_counts_of(own, joint.shape);
  if (counts.is_striped()) return make_striped_recv_end(take_sockets(joint), joint.shape, counts);
  if (LentSlots lent = tcp_lent_of(joint); lent.region != nullptr) {
    return make_tcp_lent_recv_end(std::move(joint.peer), joint.shape, std::move(lent));
  }
  return std::make_unique<TcpRecvEnd>(std::move(joint.peer), joint.shape);
}

}  // namespace ringside
