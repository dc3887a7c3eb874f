#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "engine/protocol/slot_fifo.h"
#include "engine/protocol/staging.h"
#include "engine/transport/socket/answers.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/tcp/stripe_threads.h"
#include "engine/transport/tcp/striped.h"

namespace ringside {
namespace {

void put_word(std::byte* to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
}

std::uint32_t word_at(const std::byte* from) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(from[i]) << (8 * i);
  return value;
}

/// Threads  the caller's thread fills slots and queues parts; each lane's thread sends its parts. Two counters pass
///          data between them, each stored with release and read with acquire: Lane::queued passes parts to the lane's
///          thread, and parts_left_ passes the memory of sent slots back.
class StripedSendEnd final : public SendEnd {
 public:
  StripedSendEnd(std::vector<UniqueFd> sockets, ConnectionShape shape)
      : shape_(shape),
        preamble_(preamble_of(shape)),
        memory_(Bytes{kSlots * shape.slot_size.value}),
        lanes_(sockets.size()) {
    for (std::size_t i = 0; i < sockets.size(); ++i) lanes_[i].socket = std::move(sockets[i]);
  }

  Status start(SocketCounts counts) {
    std::vector<int> sockets;
    for (const Lane& lane : lanes_) sockets.push_back(lane.socket.get());
    return threads_.start(std::move(sockets), static_cast<std::size_t>(counts.threads),
                          [this](std::size_t lane) { return advance(lanes_[lane]); });
  }

  Result<std::span<std::byte>> acquire() override {
    RINGSIDE_TRY(progress());
    if (posted_ - freed() == kSlots) return std::span<std::byte>();
    is_held_ = true;
    return slot(posted_);
  }

  Status post(Bytes size) override {
    if (size.value < 1 || size > shape_.slot_size) {
      return Error{ErrorCode::InvalidArgument, fmt::format("post of {} bytes", size.value)};
    }
    if (!is_held_) return Error{ErrorCode::InvalidArgument, "post of a slot that is not held"};
    is_held_ = false;
    hand_out(static_cast<std::uint32_t>(size.value));
    return progress();
  }

  Status progress() override {
    if (aborted_.load(std::memory_order_relaxed)) {
      return Error{ErrorCode::Aborted, "the connection was aborted"};
    }
    return threads_.status();
  }

  [[nodiscard]] bool is_drained() const override { return freed() == posted_; }

  Status check_peer() override {
    RINGSIDE_TRY(progress());
    for (Lane& lane : lanes_) {
      RINGSIDE_TRY(lane.answers.check(lane.socket.get()));
      RINGSIDE_TRY(check_open(lane.socket.get()));
    }
    return {};
  }

  void abort() noexcept override { aborted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Bytes slot_size() const override { return shape_.slot_size; }

 private:
  /// A part in flight: its header and its data.
  struct Part {
    std::array<std::byte, PartMark::kSize> header{};
    std::span<const std::byte> bytes;
    std::uint64_t slot = 0;
  };
  /// A lane has at most one part of each slot, so it never has more parts than there are slots.
  struct Lane {
    UniqueFd socket;
    AnswerWatch answers;
    std::array<Part, kSlots> parts;
    std::atomic<std::uint64_t> queued{0};  ///< parts given to the lane so far
    // Used by the lane's thread only:
    std::uint64_t sent = 0;
    std::size_t introduced = 0;  ///< bytes of the preamble that were sent
    std::size_t done = 0;        ///< bytes of part number `sent` that were sent, with its header
  };

  [[nodiscard]] std::span<std::byte> slot(std::uint64_t count) const {
    return memory_.bytes().subspan(count % kSlots * shape_.slot_size.value, shape_.slot_size.value);
  }

  /// Returns the number of slots whose parts have all been sent.
  [[nodiscard]] std::uint64_t freed() const {
    while (freed_ != posted_ && parts_left_[freed_ % kSlots].load(std::memory_order_acquire) == 0)
      ++freed_;
    return freed_;
  }

  /// Splits the filled slot and gives its parts to the next lanes.
  void hand_out(std::uint32_t size) {
    const std::uint64_t most = (size + kLeastPart.value - 1) / kLeastPart.value;
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, lanes_.size()));
    const std::uint32_t length = (size + count - 1) / count;
    const std::uint64_t number = posted_++;
    parts_left_[number % kSlots].store(count, std::memory_order_relaxed);
    for (std::uint32_t at = 0; at < size; at += length) {
      const std::size_t index = turn_++ % lanes_.size();
      Lane& lane = lanes_[index];
      const std::uint64_t place = lane.queued.load(std::memory_order_relaxed);
      const PartMark mark{static_cast<std::uint32_t>(number), size, at,
                          std::min(length, size - at)};
      lane.parts[place % kSlots] = {mark.wire(), slot(number).subspan(at, mark.bytes), number};
      lane.queued.store(place + 1, std::memory_order_release);
      threads_.wake(index);
    }
  }

  /// Writes as much as the kernel accepts.
  /// returns  the poll events that the lane waits for
  Result<short> advance(Lane& lane) {
    while (lane.introduced < kPreamble) {
      RINGSIDE_TRY(const std::size_t moved,
                   send_some(lane.socket.get(), std::span(preamble_).subspan(lane.introduced)));
      if (moved == 0) return static_cast<short>(POLLOUT);
      lane.introduced += moved;
    }
    while (lane.sent != lane.queued.load(std::memory_order_acquire)) {
      const Part& part = lane.parts[lane.sent % kSlots];
      const std::size_t all = part.header.size() + part.bytes.size();
      const std::size_t of_header = std::min(lane.done, part.header.size());
      const std::array<std::span<const std::byte>, 2> pieces{
          std::span(part.header).subspan(of_header), part.bytes.subspan(lane.done - of_header)};
      RINGSIDE_TRY(const std::size_t moved, send_some(lane.socket.get(), pieces));
      lane.done += moved;
      if (lane.done < all) return static_cast<short>(POLLOUT);
      lane.done = 0;
      const std::uint64_t slot = part.slot;
      ++lane.sent;
      parts_left_[slot % kSlots].fetch_sub(1, std::memory_order_release);
    }
    return short{0};
  }

  ConnectionShape shape_;
  std::array<std::byte, kPreamble> preamble_;
  Staging memory_;
  std::vector<Lane> lanes_;
  std::size_t turn_ = 0;  ///< parts queued so far; the next part's lane is turn_ modulo the lanes
  std::array<std::atomic<std::uint32_t>, kSlots> parts_left_{};  ///< [slot]: parts not sent yet
  std::uint64_t posted_ = 0;
  mutable std::uint64_t freed_ = 0;
  bool is_held_ = false;
  std::atomic<bool> aborted_{false};
  StripeThreads threads_;  ///< last member: its threads end first
};

}  // namespace

std::vector<UniqueFd> take_sockets(Joint& joint) {
  std::vector<UniqueFd> sockets = std::move(joint.more);
  sockets.insert(sockets.begin(), std::move(joint.peer));
  for (const UniqueFd& socket : sockets) enable_keepalive(socket.get(), Attention::Late);
  return sockets;
}

std::array<std::byte, PartMark::kSize> PartMark::wire() const {
  std::array<std::byte, kSize> bytes_on_wire{};
  put_word(&bytes_on_wire[0], slot);
  put_word(&bytes_on_wire[4], slot_bytes);
  put_word(&bytes_on_wire[8], at);
  put_word(&bytes_on_wire[12], bytes);
  return bytes_on_wire;
}

Result<PartMark> PartMark::read(std::span<const std::byte, kSize> wire, Bytes longest) {
  const PartMark mark{word_at(&wire[0]), word_at(&wire[4]), word_at(&wire[8]), word_at(&wire[12])};
  const bool is_sound = mark.slot_bytes >= 1 && mark.slot_bytes <= longest.value &&
                        mark.bytes >= 1 && mark.at < mark.slot_bytes &&
                        mark.bytes <= mark.slot_bytes - mark.at;
  if (is_sound) return mark;
  return Error{ErrorCode::Corrupt,
               fmt::format("it announced {} bytes from byte {} of a slot of {}; slots hold 1 to {}",
                           mark.bytes, mark.at, mark.slot_bytes, longest.value),
               "use the same slot size and version on every rank"};
}

Result<std::unique_ptr<SendEnd>> make_striped_send_end(std::vector<UniqueFd> sockets,
                                                       ConnectionShape shape, SocketCounts counts) {
  auto end = std::make_unique<StripedSendEnd>(std::move(sockets), shape);
  RINGSIDE_TRY(end->start(counts));
  return std::unique_ptr<SendEnd>(std::move(end));
}

}  // namespace ringside
