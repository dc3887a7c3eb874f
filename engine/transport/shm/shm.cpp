#include "engine/transport/shm/shm.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/protocol/line_fifo.h"
#include "engine/protocol/ll.h"
#include "engine/protocol/ll128.h"
#include "engine/protocol/slot_fifo.h"
#include "engine/transport/preamble.h"
#include "engine/transport/shm/mapping.h"
#include "engine/transport/shm/reference.h"
#include "engine/transport/shm/sealed_file.h"
#include "engine/transport/socket/file_passing.h"
#include "engine/transport/socket/socket.h"

namespace ringside {
namespace {

/// Offset of the fifo behind the preamble: the largest alignment of a fifo's counters.
constexpr std::size_t kFifoAt = 128;
static_assert(kPreamble <= kFifoAt);

Status check_memory(int fd, std::size_t size, ConnectionShape shape) {
  RINGSIDE_TRY(const std::size_t sent, sealed_size(fd));
  std::array<std::byte, kPreamble> preamble{};
  if (::pread(fd, preamble.data(), kPreamble, 0) != static_cast<ssize_t>(kPreamble)) {
    return Error{ErrorCode::Corrupt, "the peer sent a file that is too short",
                 "use the same version on every rank"};
  }
  RINGSIDE_TRY(check_preamble(preamble, shape));
  if (sent != size) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("the peer sent {} bytes of memory instead of {}", sent, size)};
  }
  return {};
}

/// The members that both ends use: the memory, the socket that signals the peer's death, the abort flag.
template <typename Fifo>
class ShmEnd {
 public:
  ShmEnd(Mapping mapping, UniqueFd peer, Bytes slot_size)
      : mapping_(std::move(mapping)),
        peer_(std::move(peer)),
        fifo_(mapping_.data() + kFifoAt, slot_size) {}

  [[nodiscard]] bool is_aborted() const { return aborted_.load(std::memory_order_relaxed); }
  void abort() noexcept { aborted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Status check_abort() const {
    if (is_aborted()) return Error{ErrorCode::Aborted, "the connection was aborted"};
    return {};
  }

  [[nodiscard]] bool is_peer_gone() const {
    // Not POLLIN, because descriptors of shared memory also arrive on this socket.
    pollfd poll{peer_.get(), POLLRDHUP, 0};
    return ::poll(&poll, 1, 0) > 0;
  }

  Fifo& fifo() { return fifo_; }
  [[nodiscard]] const Fifo& fifo() const { return fifo_; }
  [[nodiscard]] int socket() const { return peer_.get(); }
  [[nodiscard]] Bytes slot_size() const { return fifo_.slot_size(); }
  [[nodiscard]] std::span<std::byte> pages() const {
    return {mapping_.data() + kFifoAt, mapping_.size() - kFifoAt};
  }

 private:
  Mapping mapping_;
  UniqueFd peer_;
  Fifo fifo_;
  std::atomic<bool> aborted_{false};
};

Error peer_gone() { return {ErrorCode::PeerGone, "its process closed the connection or died"}; }

template <typename Fifo>
class ShmSendEnd final : public SendEnd {
 public:
  ShmSendEnd(Mapping mapping, UniqueFd peer, Bytes slot_size)
      : end_(std::move(mapping), std::move(peer), slot_size) {}

  Result<std::span<std::byte>> acquire() override {
    RINGSIDE_TRY(end_.check_abort());
    const std::span<std::byte> slot = end_.fifo().acquire();
    is_held_ = !slot.empty();
    return slot;
  }

  Status post(Bytes size) override {
    RINGSIDE_TRY(end_.check_abort());
    if (!is_held_) return Error{ErrorCode::InvalidArgument, "post of a slot that is not held"};
    RINGSIDE_TRY(check_size(size.value));
    is_held_ = false;
    end_.fifo().post(size);
    return {};
  }

  Result<bool> send(std::span<const std::byte> from) override {
    RINGSIDE_TRY(end_.check_abort());
    RINGSIDE_TRY(check_size(from.size()));
    return end_.fifo().send(from);
  }

  [[nodiscard]] bool reaches_memory() const override { return kRefers; }

  Result<bool> refer(SharedSpan data, SharedSpan result, std::size_t bytes) override {
    if constexpr (kRefers) {
      RINGSIDE_TRY(check_size(bytes));
      RINGSIDE_TRY(const std::span<std::byte> slot, acquire());
      if (slot.empty()) return false;
      RINGSIDE_TRY(const Reference reference,
                   introduced_.refer(data, result, bytes, end_.socket()));
      std::memcpy(slot.data(), &reference, sizeof reference);
      end_.fifo().post(Bytes{sizeof reference}, SlotKind::Reference);
      has_referred_ = true;
      return true;
    }
    return SendEnd::refer(data, result, bytes);
  }

  Result<bool> announce(std::size_t bytes) override {
    if constexpr (kRefers) {
      RINGSIDE_TRY(check_size(bytes));
      RINGSIDE_TRY(const std::span<std::byte> slot, acquire());
      if (slot.empty()) return false;
      end_.fifo().post(Bytes{bytes}, SlotKind::Landed);
      return true;
    }
    return SendEnd::announce(bytes);
  }

  // Nothing to do: data is moved by the ranks' own stores.
  Status progress() override { return {}; }
  /// Bytes in a slot stay in the shared memory, which the receiver has mapped. Referenced bytes are the caller's, who
  /// may change them once this returns true.
  [[nodiscard]] bool is_drained() const override {
    if constexpr (kRefers) {
      if (has_referred_ && !end_.fifo().is_all_released()) return false;
    }
    return true;
  }

  Status check_peer() override {
    RINGSIDE_TRY(end_.check_abort());
    if (end_.is_peer_gone()) return peer_gone();
    return {};
  }

  void abort() noexcept override { end_.abort(); }
  [[nodiscard]] Bytes slot_size() const override { return end_.slot_size(); }
  [[nodiscard]] std::span<std::byte> shared_pages() const override { return end_.pages(); }
  [[nodiscard]] int file_socket() const override { return end_.socket(); }

 private:
  [[nodiscard]] Status check_size(std::size_t bytes) const {
    if (bytes >= 1 && bytes <= slot_size().value) return {};
    return Error{ErrorCode::InvalidArgument, fmt::format("post of {} bytes", bytes)};
  }

  /// LL's lines contain only data, no references.
  static constexpr bool kRefers = std::is_same_v<Fifo, SlotFifo>;

  ShmEnd<Fifo> end_;
  SentMemory introduced_;
  bool is_held_ = false;
  bool has_referred_ = false;
};

template <typename Fifo>
class ShmRecvEnd final : public RecvEnd {
 public:
  ShmRecvEnd(Mapping mapping, UniqueFd peer, Bytes slot_size)
      : end_(std::move(mapping), std::move(peer), slot_size) {}

  Result<std::span<const std::byte>> peek() override {
    RINGSIDE_TRY(end_.check_abort());
    RINGSIDE_TRY(const std::span<const std::byte> slot, end_.fifo().peek());
    is_held_ = !slot.empty();
    if constexpr (std::is_same_v<Fifo, SlotFifo>) {
      if (is_held_ && end_.fifo().kind() != SlotKind::Bytes) return look_elsewhere(slot);
      spans_.result = {};
    }
    return slot;
  }

  [[nodiscard]] std::span<std::byte> landing() const override { return spans_.result; }

  Status release() override {
    RINGSIDE_TRY(end_.check_abort());
    if (!is_held_) return Error{ErrorCode::InvalidArgument, "release of a slot that is not held"};
    is_held_ = false;
    end_.fifo().release();
    return {};
  }

  Result<bool> take(std::span<std::byte> to) override {
    if constexpr (std::is_same_v<Fifo, SlotFifo>) {
      RINGSIDE_TRY(const std::span<const std::byte> arrived, peek());
      if (arrived.empty()) return false;
      if (arrived.size() != to.size()) return other_size(arrived.size(), to.size());
      if (arrived.data() != nullptr) std::memcpy(to.data(), arrived.data(), to.size());
      RINGSIDE_TRY(release());
      return true;
    }
    RINGSIDE_TRY(end_.check_abort());
    return end_.fifo().take(to);
  }

  Status progress() override { return {}; }

  Status check_peer() override {
    RINGSIDE_TRY(end_.check_abort());
    // In this order, data that the peer posted before it ended is seen before its end.
    const bool is_gone = end_.is_peer_gone();
    if (is_gone && !end_.fifo().has_arrived()) return peer_gone();
    return {};
  }

  void abort() noexcept override { end_.abort(); }
  [[nodiscard]] Bytes slot_size() const override { return end_.slot_size(); }
  [[nodiscard]] std::span<std::byte> shared_pages() const override { return end_.pages(); }
  [[nodiscard]] int file_socket() const override { return end_.socket(); }

 private:
  /// The slot holds a reference instead of data: the data is at that address, or where this rank requested it.
  Result<std::span<const std::byte>> look_elsewhere(std::span<const std::byte> slot) {
    if (end_.fifo().kind() == SlotKind::Landed) {
      spans_ = {};
      return std::span(static_cast<const std::byte*>(nullptr), slot.size());
    }
    RINGSIDE_TRY(spans_, heard_.find(slot, end_.socket()));
    return spans_.data;
  }

  ShmEnd<Fifo> end_;
  ReceivedMemory heard_;
  ReceivedMemory::Spans spans_;  ///< referenced data of the current slot
  bool is_held_ = false;
};

template <typename Fifo>
Result<std::unique_ptr<RecvEnd>> make_recv_end(Joint joint) {
  const std::size_t size = kFifoAt + Fifo::memory_for(joint.shape.slot_size).value;
  RINGSIDE_TRY(const UniqueFd memory, make_sealed_file(size));
  RINGSIDE_TRY(Mapping mapping, Mapping::map(memory.get(), size));
  const auto preamble = preamble_of(joint.shape);
  std::memcpy(mapping.data(), preamble.data(), preamble.size());
  RINGSIDE_TRY(send_fd(joint.peer.get(), memory.get(), joint.patience));
  return std::make_unique<ShmRecvEnd<Fifo>>(std::move(mapping), std::move(joint.peer),
                                            joint.shape.slot_size);
}

template <typename Fifo>
Result<std::unique_ptr<SendEnd>> make_send_end(Joint joint) {
  const std::size_t size = kFifoAt + Fifo::memory_for(joint.shape.slot_size).value;
  RINGSIDE_TRY(const UniqueFd memory, recv_fd(joint.peer.get(), joint.patience));
  RINGSIDE_TRY(check_memory(memory.get(), size, joint.shape));
  RINGSIDE_TRY(Mapping mapping, Mapping::map(memory.get(), size));
  return std::make_unique<ShmSendEnd<Fifo>>(std::move(mapping), std::move(joint.peer),
                                            joint.shape.slot_size);
}

}  // namespace

Result<std::unique_ptr<RecvEnd>> make_shm_recv_end(Joint joint) {
  switch (joint.shape.protocol) {
    case Protocol::LL:
      return make_recv_end<LineFifo<Ll>>(std::move(joint));
    case Protocol::LL128:
      return make_recv_end<LineFifo<Ll128>>(std::move(joint));
    case Protocol::Simple:
      break;
  }
  return make_recv_end<SlotFifo>(std::move(joint));
}

Result<std::unique_ptr<SendEnd>> make_shm_send_end(Joint joint) {
  switch (joint.shape.protocol) {
    case Protocol::LL:
      return make_send_end<LineFifo<Ll>>(std::move(joint));
    case Protocol::LL128:
      return make_send_end<LineFifo<Ll128>>(std::move(joint));
    case Protocol::Simple:
      break;
  }
  return make_send_end<SlotFifo>(std::move(joint));
}

}  // namespace ringside
