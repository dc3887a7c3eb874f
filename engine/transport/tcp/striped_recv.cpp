#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "engine/protocol/slot_fifo.h"
#include "engine/protocol/staging.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/tcp/stripe_threads.h"
#include "engine/transport/tcp/striped.h"

namespace ringside {
namespace {

class StripedRecvEnd final : public RecvEnd {
 public:
  StripedRecvEnd(std::vector<UniqueFd> sockets, ConnectionShape shape)
      : shape_(shape), memory_(Bytes{kSlots * shape.slot_size.value}), lanes_(sockets.size()) {
    for (std::size_t i = 0; i < sockets.size(); ++i) lanes_[i].socket = std::move(sockets[i]);
  }

  Status start(SocketCounts counts) {
    std::vector<int> sockets;
    for (const Lane& lane : lanes_) sockets.push_back(lane.socket.get());
    return threads_.start(std::move(sockets), static_cast<std::size_t>(counts.threads),
                          [this](std::size_t lane) { return advance(lanes_[lane]); });
  }

  Result<std::span<const std::byte>> peek() override {
    if (!held_.empty()) return held_;
    const std::uint64_t number = released_.load(std::memory_order_relaxed);
    const Arriving& arriving = slots_[number % kSlots];
    const std::uint32_t bytes = arriving.arrived.load(std::memory_order_acquire);
    if (bytes == 0 || bytes != arriving.size.load(std::memory_order_relaxed)) {
      // In this order, data that arrived before the peer ended is seen before its end.
      const Status alive = progress();
      if (arriving.arrived.load(std::memory_order_acquire) != bytes)
        return std::span<const std::byte>();
      RINGSIDE_TRY(alive);
      return std::span<const std::byte>();
    }
    if (aborted_.load(std::memory_order_relaxed)) RINGSIDE_TRY(progress());
    held_ = slot(number).first(bytes);
    return held_;
  }

  Status release() override {
    if (held_.empty())
      return Error{ErrorCode::InvalidArgument, "release of a slot that is not held"};
    held_ = {};
    const std::uint64_t number = released_.load(std::memory_order_relaxed);
    Arriving& arriving = slots_[number % kSlots];
    arriving.size.store(0, std::memory_order_relaxed);
    arriving.arrived.store(0, std::memory_order_relaxed);
    released_.store(number + 1, std::memory_order_seq_cst);
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].is_blocked.exchange(false, std::memory_order_seq_cst)) threads_.wake(i);
    }
    return {};
  }

  Status progress() override {
    if (aborted_.load(std::memory_order_relaxed)) {
      return Error{ErrorCode::Aborted, "the connection was aborted"};
    }
    return threads_.status_of_all();
  }

  // A read shows a closed or reset socket, and the threads read all the time.
  Status check_peer() override { return {}; }

  void abort() noexcept override { aborted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Bytes slot_size() const override { return shape_.slot_size; }

 private:
  struct Arriving {
    std::atomic<std::uint32_t> size{0};     ///< as its parts report; 0: no part has arrived
    std::atomic<std::uint32_t> arrived{0};  ///< bytes that have arrived
  };
  struct Lane {
    UniqueFd socket;
    std::atomic<bool> is_blocked{
        false};  ///< its current part belongs to a slot that is not free yet
    // Used by the lane's thread only:
    std::array<std::byte, kPreamble> preamble{};
    std::size_t introduced = 0;
    std::array<std::byte, PartMark::kSize> header{};
    std::size_t header_done = 0;
    PartMark mark;  ///< valid after the header has arrived
    std::uint64_t number = 0;
    std::size_t done = 0;  ///< bytes of the part that were received
  };

  [[nodiscard]] std::span<std::byte> slot(std::uint64_t count) const {
    return memory_.bytes().subspan(count % kSlots * shape_.slot_size.value, shape_.slot_size.value);
  }

  /// Reads the data that the kernel has.
  /// returns  the poll events that the lane waits for
  Result<short> advance(Lane& lane) {
    constexpr short kMore = POLLIN;
    RINGSIDE_TRY(const bool is_introduced, recv_preamble(lane));
    if (!is_introduced) return kMore;
    for (;;) {
      if (lane.header_done < lane.header.size()) {
        RINGSIDE_TRY(
            const std::size_t moved,
            recv_some(lane.socket.get(), std::span(lane.header).subspan(lane.header_done)));
        lane.header_done += moved;
        if (lane.header_done < lane.header.size()) return kMore;
        RINGSIDE_TRY(begin_part(lane));
      }
      if (!has_room(lane)) return short{0};
      const auto room =
          slot(lane.number).subspan(lane.mark.at + lane.done, lane.mark.bytes - lane.done);
      RINGSIDE_TRY(const std::size_t moved, recv_some(lane.socket.get(), room));
      lane.done += moved;
      if (lane.done < lane.mark.bytes) return kMore;
      RINGSIDE_TRY(end_part(lane));
    }
  }

  Result<bool> recv_preamble(Lane& lane) const {
    if (lane.introduced == kPreamble) return true;
    RINGSIDE_TRY(const std::size_t moved,
                 recv_some(lane.socket.get(), std::span(lane.preamble).subspan(lane.introduced)));
    lane.introduced += moved;
    if (lane.introduced < kPreamble) return false;
    RINGSIDE_TRY(check_preamble(lane.preamble, shape_));
    return true;
  }

  Status begin_part(Lane& lane) {
    RINGSIDE_TRY(lane.mark, PartMark::read(lane.header, shape_.slot_size));
    lane.done = 0;
    // Arriving parts never belong to an earlier slot, and lie ahead by at most the data that the kernel buffers.
    const std::uint64_t free = released_.load(std::memory_order_acquire);
    const std::uint32_t ahead = lane.mark.slot - static_cast<std::uint32_t>(free);
    constexpr std::uint32_t kFarthest = 1U << 30;
    if (ahead > kFarthest) return wrong_part(lane, "which was there before");
    lane.number = free + ahead;
    return {};
  }

  /// Returns whether the part's slot is one of the eight current ones. If not, the thread that frees a slot wakes the
  /// lane.
  [[nodiscard]] bool has_room(Lane& lane) const {
    const auto is_free = [&] {
      return lane.number - released_.load(std::memory_order_seq_cst) < kSlots;
    };
    if (is_free()) return true;
    lane.is_blocked.store(true, std::memory_order_seq_cst);
    return is_free();
  }

  Status end_part(Lane& lane) {
    Arriving& arriving = slots_[lane.number % kSlots];
    const std::uint32_t known =
        arriving.size.exchange(lane.mark.slot_bytes, std::memory_order_relaxed);
    if (known != 0 && known != lane.mark.slot_bytes)
      return wrong_part(lane, "of which another part reports another size");
    const std::uint32_t before =
        arriving.arrived.fetch_add(lane.mark.bytes, std::memory_order_acq_rel);
    if (before + std::uint64_t{lane.mark.bytes} > lane.mark.slot_bytes)
      return wrong_part(lane, "which is full");
    lane.header_done = 0;
    return {};
  }

  static Error wrong_part(const Lane& lane, const char* why) {
    return {ErrorCode::Corrupt,
            fmt::format("it sent {} bytes of slot {} of {} bytes, {}", lane.mark.bytes,
                        lane.mark.slot, lane.mark.slot_bytes, why),
            "use the same version on every rank"};
  }

  ConnectionShape shape_;
  Staging memory_;
  std::vector<Lane> lanes_;
  std::array<Arriving, kSlots> slots_;
  std::atomic<std::uint64_t> released_{0};
  std::span<const std::byte> held_;  ///< data of slot released_ after peek() returned it
  std::atomic<bool> aborted_{false};
  StripeThreads threads_;  ///< last member: its threads end first
};

}  // namespace

Result<std::unique_ptr<RecvEnd>> make_striped_recv_end(std::vector<UniqueFd> sockets,
                                                       ConnectionShape shape, SocketCounts counts) {
  auto end = std::make_unique<StripedRecvEnd>(std::move(sockets), shape);
  RINGSIDE_TRY(end->start(counts));
  return std::unique_ptr<RecvEnd>(std::move(end));
}

}  // namespace ringside
