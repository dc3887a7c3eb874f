#include "engine/transport/tcp.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/protocol/slot_fifo.h"
#include "engine/protocol/staging.h"
#include "engine/protocol/wire_lines.h"
#include "engine/transport/frame.h"
#include "engine/transport/preamble.h"
#include "engine/transport/socket.h"

namespace ringside {
namespace {

/// A slot with room for its length in front, so that both leave in one call.
struct FramedSlot {
  static constexpr std::size_t kPayloadAt = 16;  ///< lines want to lie at multiples of 8
  std::vector<std::byte> bytes;
  std::size_t size = 0;  ///< of header and payload together
  std::size_t done = 0;  ///< of those, moved

  [[nodiscard]] std::span<std::byte> header_on() {
    return std::span(bytes).subspan(kPayloadAt - kFrameHeader);
  }
  [[nodiscard]] std::span<std::byte> payload() {
    return header_on().first(size).subspan(kFrameHeader);
  }
};

class FramedSlots {
 public:
  explicit FramedSlots(Bytes payload) {
    for (FramedSlot& slot : slots_) slot.bytes.resize(FramedSlot::kPayloadAt + payload.value);
  }
  FramedSlot& at(std::uint64_t count) { return slots_[count % kSlots]; }

 private:
  std::array<FramedSlot, kSlots> slots_;
};

/// Where the data of a step lie that travels as lines. Simple's lie in the slot.
Staging staging_of(ConnectionShape shape) {
  return shape.protocol == Protocol::Simple ? Staging() : Staging(shape.slot_size);
}

class TcpSendEnd final : public SendEnd {
 public:
  TcpSendEnd(UniqueFd peer, ConnectionShape shape)
      : peer_(std::move(peer)),
        shape_(shape),
        preamble_(preamble_of(shape)),
        slots_(wire_size(shape.protocol, shape.slot_size)),
        staging_(staging_of(shape)) {}

  Result<std::span<std::byte>> acquire() override {
    RINGSIDE_TRY(progress());
    if (posted_ - sent_ == kSlots) return std::span<std::byte>();
    is_held_ = true;
    if (shape_.protocol != Protocol::Simple) return staging_.bytes();
    return std::span(slots_.at(posted_).bytes).subspan(FramedSlot::kPayloadAt);
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
    pack_wire(shape_.protocol, begin_slot(Bytes{from.size()}), from, posted_);
    ++posted_;
    RINGSIDE_TRY(progress());
    return true;
  }

  Status progress() override {
    if (aborted_.load(std::memory_order_relaxed)) return was_aborted();
    RINGSIDE_TRY(const bool is_introduced, send_preamble());
    if (!is_introduced) return {};
    while (sent_ != posted_) {
      FramedSlot& slot = slots_.at(sent_);
      RINGSIDE_TRY(const std::size_t moved,
                   send_some(peer_.get(), slot.header_on().first(slot.size).subspan(slot.done)));
      if (moved == 0) return {};
      slot.done += moved;
      if (slot.done == slot.size) ++sent_;
    }
    return {};
  }

  [[nodiscard]] bool is_drained() const override { return sent_ == posted_; }

  Status check_peer() override {
    RINGSIDE_TRY(progress());
    // The receiver never writes: its end or a reset is all that can come.
    pollfd poll{peer_.get(), POLLRDHUP, 0};
    if (::poll(&poll, 1, 0) > 0) {
      return Error{ErrorCode::PeerGone, "its process closed the connection or died"};
    }
    return {};
  }

  void abort() noexcept override { aborted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Bytes slot_size() const override { return shape_.slot_size; }

 private:
  static Error was_aborted() { return {ErrorCode::Aborted, "the connection was aborted"}; }

  [[nodiscard]] Status check_size(Bytes size) const {
    if (size.value >= 1 && size <= shape_.slot_size) return {};
    return Error{ErrorCode::InvalidArgument, fmt::format("post of {} bytes", size.value)};
  }

  /// returns  whether all of it has been sent
  Result<bool> send_preamble() {
    if (introduced_ == kPreamble) return true;
    RINGSIDE_TRY(const std::size_t moved,
                 send_some(peer_.get(), std::span(preamble_).subspan(introduced_)));
    introduced_ += moved;
    return introduced_ == kPreamble;
  }

  /// Writes the header of the next slot. returns  where what it announces goes
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
  ConnectionShape shape_;
  std::array<std::byte, kPreamble> preamble_;
  std::size_t introduced_ = 0;  ///< of the preamble, sent
  FramedSlots slots_;
  Staging staging_;
  std::uint64_t posted_ = 0;
  std::uint64_t sent_ = 0;
  bool is_held_ = false;
  std::atomic<bool> aborted_{false};
};

class TcpRecvEnd final : public RecvEnd {
 public:
  TcpRecvEnd(UniqueFd peer, ConnectionShape shape)
      : peer_(std::move(peer)),
        shape_(shape),
        slots_(wire_size(shape.protocol, shape.slot_size)),
        staging_(staging_of(shape)) {}

  Result<std::span<const std::byte>> peek() override {
    const Status moved = progress();
    if (!held_.empty()) return held_;
    if (arrived_ == released_) {
      if (!moved) return moved.error();
      return std::span<const std::byte>();
    }
    // What arrived before the connection broke is still good.
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
    return {};
  }

  Status progress() override {
    if (aborted_.load(std::memory_order_relaxed)) {
      return Error{ErrorCode::Aborted, "the connection was aborted"};
    }
    RINGSIDE_TRY(const bool is_introduced, recv_preamble());
    if (!is_introduced) return {};
    while (arrived_ - released_ < kSlots) {
      FramedSlot& slot = slots_.at(arrived_);
      const std::size_t wanted = slot.done < kFrameHeader ? kFrameHeader : slot.size;
      RINGSIDE_TRY(const std::size_t moved,
                   recv_some(peer_.get(), slot.header_on().first(wanted).subspan(slot.done)));
      if (moved == 0) return {};
      slot.done += moved;
      if (slot.done == kFrameHeader) RINGSIDE_TRY(read_header(slot));
      if (slot.done > kFrameHeader && slot.done == slot.size) ++arrived_;
    }
    return {};
  }

  // A closed or reset socket shows when it is read, which a waiting rank does all the time.
  Status check_peer() override { return {}; }

  void abort() noexcept override { aborted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Bytes slot_size() const override { return shape_.slot_size; }

 private:
  /// returns  whether it has come whole and says what was expected
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

  Status read_header(FramedSlot& slot) const {
    const std::uint64_t payload = frame_length(slot.header_on().first<kFrameHeader>());
    const Bytes longest = wire_size(shape_.protocol, shape_.slot_size);
    if (payload == 0 || payload > longest.value) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("it announced a slot of {} bytes; slots hold 1 to {}", payload,
                               longest.value),
                   "use the same slot size and version on every rank"};
    }
    slot.size = kFrameHeader + payload;
    return {};
  }

  UniqueFd peer_;
  ConnectionShape shape_;
  std::array<std::byte, kPreamble> preamble_{};
  std::size_t introduced_ = 0;  ///< of the peer's preamble, received
  bool is_agreed_ = false;
  FramedSlots slots_;
  Staging staging_;
  std::uint64_t arrived_ = 0;
  std::uint64_t released_ = 0;
  std::span<const std::byte> held_;  ///< the data of slot released_, once peek() gave them
  std::atomic<bool> aborted_{false};
};

}  // namespace

std::unique_ptr<SendEnd> make_tcp_send_end(UniqueFd peer, Bytes slot_size, Protocol protocol) {
  return std::make_unique<TcpSendEnd>(std::move(peer), ConnectionShape{protocol, slot_size});
}

std::unique_ptr<RecvEnd> make_tcp_recv_end(UniqueFd peer, Bytes slot_size, Protocol protocol) {
  return std::make_unique<TcpRecvEnd>(std::move(peer), ConnectionShape{protocol, slot_size});
}

}  // namespace ringside
