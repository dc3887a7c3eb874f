#include "engine/transport/loop.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <utility>

#include "engine/protocol/slot_fifo.h"
#include "engine/protocol/staging.h"

namespace ringside {
namespace {

/// The state that both ends share. Slot k of the stream is slots[k % 8].
struct Loop {
  explicit Loop(Bytes size) : slot_size(size), stride(round_up(size.value, kSlotAlignment)) {
    memory = Staging(Bytes{stride * kSlots});
  }

  [[nodiscard]] std::span<std::byte> slot(std::uint64_t count) const {
    return memory.bytes().subspan(count % kSlots * stride, slot_size.value);
  }
  [[nodiscard]] Status check_abort() const {
    if (!aborted.load(std::memory_order_relaxed)) return {};
    return Error{ErrorCode::Aborted, "the connection was aborted"};
  }

  Bytes slot_size;
  std::uint64_t stride;
  Staging memory;
  std::array<std::size_t, kSlots> sizes{};
  std::uint64_t posted = 0;
  std::uint64_t released = 0;
  std::atomic<bool> aborted{false};
};

class LoopSendEnd final : public SendEnd {
 public:
  explicit LoopSendEnd(std::shared_ptr<Loop> loop) : loop_(std::move(loop)) {}

  Result<std::span<std::byte>> acquire() override {
    RINGSIDE_TRY(loop_->check_abort());
    is_held_ = loop_->posted - loop_->released < kSlots;
    return is_held_ ? loop_->slot(loop_->posted) : std::span<std::byte>();
  }

  Status post(Bytes size) override {
    RINGSIDE_TRY(loop_->check_abort());
    if (!is_held_ || size.value < 1 || size > loop_->slot_size) {
      return Error{ErrorCode::InvalidArgument, fmt::format("post of {} bytes", size.value)};
    }
    is_held_ = false;
    loop_->sizes.at(loop_->posted++ % kSlots) = size.value;
    return {};
  }

  Status progress() override { return {}; }
  Status check_peer() override { return loop_->check_abort(); }
  [[nodiscard]] bool is_drained() const override { return true; }
  void abort() noexcept override { loop_->aborted.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Bytes slot_size() const override { return loop_->slot_size; }

 private:
  std::shared_ptr<Loop> loop_;
  bool is_held_ = false;
};

class LoopRecvEnd final : public RecvEnd {
 public:
  explicit LoopRecvEnd(std::shared_ptr<Loop> loop) : loop_(std::move(loop)) {}

  Result<std::span<const std::byte>> peek() override {
    RINGSIDE_TRY(loop_->check_abort());
    if (loop_->posted == loop_->released) return std::span<const std::byte>();
    return std::span<const std::byte>(
        loop_->slot(loop_->released).first(loop_->sizes.at(loop_->released % kSlots)));
  }

  Status release() override {
    RINGSIDE_TRY(loop_->check_abort());
    if (loop_->posted == loop_->released) {
      return Error{ErrorCode::InvalidArgument, "release of a slot that is not held"};
    }
    ++loop_->released;
    return {};
  }

  Status progress() override { return {}; }
  Status check_peer() override { return loop_->check_abort(); }
  void abort() noexcept override { loop_->aborted.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Bytes slot_size() const override { return loop_->slot_size; }

 private:
  std::shared_ptr<Loop> loop_;
};

/// The slots of connections whose sending end has not been made yet.
class HalfLoop final : public TransportState {
 public:
  std::shared_ptr<Loop> slots;
};

HalfLoop& half_of(const Joint& joint) { return static_cast<HalfLoop&>(*joint.state); }

}  // namespace

Result<std::unique_ptr<TransportState>> open_loop(const LocalSite& /*here*/) {
  return std::make_unique<HalfLoop>();
}

Result<std::unique_ptr<RecvEnd>> make_loop_recv_end(Joint joint) {
  auto slots = std::make_shared<Loop>(joint.shape.slot_size);
  half_of(joint).slots = slots;
  return std::make_unique<LoopRecvEnd>(std::move(slots));
}

Result<std::unique_ptr<SendEnd>> make_loop_send_end(Joint joint) {
  RINGSIDE_ASSERT(half_of(joint).slots != nullptr, "the sending end of a loop comes second");
  return std::make_unique<LoopSendEnd>(std::exchange(half_of(joint).slots, nullptr));
}

}  // namespace ringside
