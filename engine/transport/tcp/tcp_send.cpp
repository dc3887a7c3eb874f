#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "engine/protocol/wire_lines.h"
#include "engine/transport/socket/answers.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/tcp/framed_slots.h"
#include "engine/transport/tcp/striped.h"
#include "engine/transport/tcp/tcp.h"
#include "engine/transport/tcp/tcp_lent.h"

namespace ringside {
namespace {

class TcpSendEnd final : public SendEnd {
 public:
  /// lent  empty: the end uses its own slots
  TcpSendEnd(UniqueFd peer, ConnectionShape shape, LentSlots lent)
      : peer_(std::move(peer)),
        shape_(shape),
        preamble_(preamble_of(shape)),
        lent_(std::move(lent)),
        slots_(lent_.region == nullptr ? FramedSlots(wire_size(shape.protocol, shape.slot_size))
                                       : FramedSlots(shape.slot_size, lent_)),
        staging_(staging_of(shape)) {}

  Result<std::span<std::byte>> acquire() override {
    RINGSIDE_TRY(progress());
    if (posted_ - sent_ == kSlots) return std::span<std::byte>();
    is_held_ = true;
    if (shape_.protocol != Protocol::Simple) return staging_.bytes();
    FramedSlot& slot = slots_.at(posted_);
    return slot.lent.empty() ? std::span(slot.bytes).subspan(FramedSlot::kPayloadAt) : slot.lent;
  }

  Status post(Bytes size) override {
    RINGSIDE_TRY(check_size(size));
    if (!is_held_) return Error{ErrorCode::InvalidArgument, "post of a slot that is not held"};
    is_held_ = false;
    const std::span<std::byte> payload = begin_slot(size);
    if (shape_.protocol != Protocol::Simple) {
      pack_wire(shape_.protocol, payload, staging_.bytes().first(size.value), posted_);
    }
    ++posted_;
    return progress();
  }

  Result<bool> send(std::span<const std::byte> from) override {
    RINGSIDE_TRY(check_size(Bytes{from.size()}));
    RINGSIDE_TRY(progress());
    if (posted_ - sent_ == kSlots) return false;
    if (shape_.protocol == Protocol::Simple && sent_ == posted_ && introduced_ == kPreamble &&
        !is_stuck_) {
      RINGSIDE_TRY(send_straight(from));
    } else {
      pack_wire(shape_.protocol, begin_slot(Bytes{from.size()}), from, posted_);
      ++posted_;
      RINGSIDE_TRY(progress());
    }
    return true;
  }

  Status progress() override {
    if (aborted_.load(std::memory_order_relaxed)) return was_aborted();
    if (introduced_ < kPreamble) RINGSIDE_TRY(send_preamble());
    if (introduced_ < kPreamble || sent_ == posted_) return {};
    if (is_stuck_ && !is_writable(peer_.get())) return {};
    is_stuck_ = false;
    while (sent_ != posted_ && !is_stuck_) RINGSIDE_TRY(send_posted());
    return {};
  }

  [[nodiscard]] bool is_drained() const override { return sent_ == posted_; }
  [[nodiscard]] LentUse lent() const override { return tcp_use_of(lent_); }
  [[nodiscard]] std::uint64_t done() const override { return sent_; }

  Status check_peer() override {
    RINGSIDE_TRY(progress());
    RINGSIDE_TRY(answers_.check(peer_.get()));
    return check_open(peer_.get());
  }

  void abort() noexcept override { aborted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Bytes slot_size() const override { return shape_.slot_size; }

 private:
  static Error was_aborted() { return {ErrorCode::Aborted, "the connection was aborted"}; }

  [[nodiscard]] Status check_size(Bytes size) const {
    if (size.value >= 1 && size <= shape_.slot_size) return {};
    return Error{ErrorCode::InvalidArgument, fmt::format("post of {} bytes", size.value)};
  }

  Status send_preamble() {
    RINGSIDE_TRY(const std::size_t moved,
                 send_some(peer_.get(), std::span(preamble_).subspan(introduced_)));
    introduced_ += moved;
    return {};
  }

  /// Writes as much of all posted slots as the kernel accepts in one call.
  Status send_posted() {
    std::array<std::span<const std::byte>, 2 * kSlots> pieces;
    std::size_t count = 0;
    std::size_t all = 0;
    for (std::uint64_t i = sent_; i != posted_; ++i) {
      for (const std::span<std::byte> piece : slots_.at(i).rest()) {
        if (piece.empty()) continue;
        pieces[count++] = piece;
        all += piece.size();
      }
    }
    RINGSIDE_TRY(std::size_t moved, send_some(peer_.get(), std::span(pieces).first(count)));
    is_stuck_ = moved < all;
    while (moved > 0) {
      FramedSlot& slot = slots_.at(sent_);
      const std::size_t part = std::min(moved, slot.size - slot.done);
      slot.done += part;
      moved -= part;
      if (slot.done == slot.size) ++sent_;
    }
    return {};
  }

  /// Writes from the caller's buffer; data that the kernel does not accept is copied into a slot.
  Status send_straight(std::span<const std::byte> from) {
    const std::span<std::byte> payload = begin_slot(Bytes{from.size()});
    FramedSlot& slot = slots_.at(posted_++);
    const std::array<std::span<const std::byte>, 2> pieces{
        std::span<const std::byte>(slot.header_on().first(kFrameHeader)), from};
    RINGSIDE_TRY(slot.done, send_some(peer_.get(), pieces));
    if (slot.done == slot.size) {
      ++sent_;
      return {};
    }
    is_stuck_ = true;
    const std::size_t taken = slot.done > kFrameHeader ? slot.done - kFrameHeader : 0;
    std::memcpy(payload.data() + taken, from.data() + taken, from.size() - taken);
    return {};
  }

  /// Writes the header of the next slot.
  /// returns  where its data goes
  std::span<std::byte> begin_slot(Bytes size) {
    FramedSlot& slot = slots_.at(posted_);
    const std::size_t payload = wire_size(shape_.protocol, size).value;
    const auto header = frame_header(payload);
    std::memcpy(slot.header_on().data(), header.data(), header.size());
    slot.size = kFrameHeader + payload;
    slot.done = 0;
    return slot.payload();
  }

  UniqueFd peer_;
  AnswerWatch answers_;
  ConnectionShape shape_;
  std::array<std::byte, kPreamble> preamble_;
  std::size_t introduced_ = 0;  ///< bytes of the preamble that were sent
  LentSlots lent_;
  FramedSlots slots_;
  Staging staging_;
  std::uint64_t posted_ = 0;
  std::uint64_t sent_ = 0;
  bool is_held_ = false;
  bool is_stuck_ = false;  ///< the kernel accepted less than there was
  std::atomic<bool> aborted_{false};
};

}  // namespace

Result<std::unique_ptr<SendEnd>> make_tcp_send_end(Joint joint) {
  enable_keepalive(joint.peer.get(), Attention::Late);
  const SocketCounts counts = socket_counts_of(joint.address, joint.shape);
  if (counts.is_striped()) return make_striped_send_end(take_sockets(joint), joint.shape, counts);
  return std::make_unique<TcpSendEnd>(std::move(joint.peer), joint.shape, tcp_lent_of(joint));
}

}  // namespace ringside
