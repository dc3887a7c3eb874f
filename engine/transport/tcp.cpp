#include "engine/transport/tcp.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/protocol/slot_fifo.h"
#include "engine/transport/frame.h"
#include "engine/transport/socket.h"

namespace ringside {
namespace {

/// A slot with room for its length in front, so that both leave in one call.
struct FramedSlot {
  std::vector<std::byte> bytes;
  std::size_t size = 0;  ///< of header and payload together
  std::size_t done = 0;  ///< of those, moved
};

class FramedSlots {
 public:
  explicit FramedSlots(Bytes slot_size) {
    for (FramedSlot& slot : slots_) slot.bytes.resize(kFrameHeader + slot_size.value);
  }
  FramedSlot& at(std::uint64_t count) { return slots_[count % kSlots]; }

 private:
  std::array<FramedSlot, kSlots> slots_;
};

class TcpSendEnd final : public SendEnd {
 public:
  TcpSendEnd(UniqueFd peer, Bytes slot_size)
      : peer_(std::move(peer)), slot_size_(slot_size), slots_(slot_size) {}

  Result<std::span<std::byte>> acquire() override {
    RINGSIDE_TRY(progress());
    if (posted_ - sent_ == kSlots) return std::span<std::byte>();
    is_held_ = true;
    return std::span(slots_.at(posted_).bytes).subspan(kFrameHeader);
  }

  Status post(Bytes size) override {
    if (!is_held_ || size.value < 1 || size > slot_size_) {
      return Error{ErrorCode::InvalidArgument, fmt::format("post of {} bytes", size.value)};
    }
    is_held_ = false;
    FramedSlot& slot = slots_.at(posted_++);
    const auto header = frame_header(size.value);
    std::memcpy(slot.bytes.data(), header.data(), header.size());
    slot.size = kFrameHeader + size.value;
    slot.done = 0;
    return progress();
  }

  Status progress() override {
    if (aborted_.load(std::memory_order_relaxed)) return was_aborted();
    while (sent_ != posted_) {
      FramedSlot& slot = slots_.at(sent_);
      RINGSIDE_TRY(
          const std::size_t moved,
          send_some(peer_.get(), std::span(slot.bytes).first(slot.size).subspan(slot.done)));
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
  [[nodiscard]] Bytes slot_size() const override { return slot_size_; }

 private:
  static Error was_aborted() { return {ErrorCode::Aborted, "the connection was aborted"}; }

  UniqueFd peer_;
  Bytes slot_size_;
  FramedSlots slots_;
  std::uint64_t posted_ = 0;
  std::uint64_t sent_ = 0;
  bool is_held_ = false;
  std::atomic<bool> aborted_{false};
};

class TcpRecvEnd final : public RecvEnd {
 public:
  TcpRecvEnd(UniqueFd peer, Bytes slot_size)
      : peer_(std::move(peer)), slot_size_(slot_size), slots_(slot_size) {}

  Result<std::span<const std::byte>> peek() override {
    const Status moved = progress();
    if (arrived_ == released_) {
      if (!moved) return moved.error();
      return std::span<const std::byte>();
    }
    // What arrived before the connection broke is still good.
    const FramedSlot& slot = slots_.at(released_);
    is_held_ = true;
    return std::span<const std::byte>(slot.bytes).first(slot.size).subspan(kFrameHeader);
  }

  Status release() override {
    if (!is_held_) return Error{ErrorCode::InvalidArgument, "release of a slot that is not held"};
    is_held_ = false;
    slots_.at(released_++).done = 0;
    return {};
  }

  Status progress() override {
    if (aborted_.load(std::memory_order_relaxed)) {
      return Error{ErrorCode::Aborted, "the connection was aborted"};
    }
    while (arrived_ - released_ < kSlots) {
      FramedSlot& slot = slots_.at(arrived_);
      const std::size_t wanted = slot.done < kFrameHeader ? kFrameHeader : slot.size;
      RINGSIDE_TRY(const std::size_t moved,
                   recv_some(peer_.get(), std::span(slot.bytes).first(wanted).subspan(slot.done)));
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
  [[nodiscard]] Bytes slot_size() const override { return slot_size_; }

 private:
  Status read_header(FramedSlot& slot) const {
    const std::uint64_t payload = frame_length(std::span(slot.bytes).first<kFrameHeader>());
    if (payload == 0 || payload > slot_size_.value) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("it announced a slot of {} bytes; slots hold 1 to {}", payload,
                               slot_size_.value),
                   "use the same slot size and version on every rank"};
    }
    slot.size = kFrameHeader + payload;
    return {};
  }

  UniqueFd peer_;
  Bytes slot_size_;
  FramedSlots slots_;
  std::uint64_t arrived_ = 0;
  std::uint64_t released_ = 0;
  bool is_held_ = false;
  std::atomic<bool> aborted_{false};
};

}  // namespace

std::unique_ptr<SendEnd> make_tcp_send_end(UniqueFd peer, Bytes slot_size) {
  return std::make_unique<TcpSendEnd>(std::move(peer), slot_size);
}

std::unique_ptr<RecvEnd> make_tcp_recv_end(UniqueFd peer, Bytes slot_size) {
  return std::make_unique<TcpRecvEnd>(std::move(peer), slot_size);
}

}  // namespace ringside
