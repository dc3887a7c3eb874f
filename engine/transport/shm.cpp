#include "engine/transport/shm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/protocol/line_fifo.h"
#include "engine/protocol/ll.h"
#include "engine/protocol/ll128.h"
#include "engine/protocol/slot_fifo.h"
#include "engine/transport/preamble.h"
#include "engine/transport/socket.h"

namespace ringside {
namespace {

/// Pages mapped into this process, for as long as the object lives.
class Mapping {
 public:
  static Result<Mapping> map(int fd, std::size_t size) {
    // Populated now: page faults in the middle of a transfer would show as noise.
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (memory == MAP_FAILED) {
      return system_error(fmt::format("cannot map {} bytes of shared memory", size), errno);
    }
    return Mapping(static_cast<std::byte*>(memory), size);
  }

  Mapping(Mapping&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(other.size_) {}
  Mapping& operator=(Mapping&&) = delete;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (memory_ != nullptr) ::munmap(memory_, size_);
  }

  [[nodiscard]] std::byte* data() const { return memory_; }

 private:
  Mapping(std::byte* memory, std::size_t size) : memory_(memory), size_(size) {}
  std::byte* memory_;
  std::size_t size_;
};

/// The preamble stands in front of the fifo, which wants its own alignment.
constexpr std::size_t kFifoAt = 128;

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Result<UniqueFd> make_memory(std::size_t size) {
  UniqueFd memory(::memfd_create("ringside", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return system_error("memfd_create", errno);
  if (::ftruncate(memory.get(), static_cast<off_t>(size)) != 0) {
    return system_error(fmt::format("no {} bytes of shared memory", size), errno);
  }
  if (::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) return system_error("F_ADD_SEALS", errno);
  return memory;
}

/// A memory that could shrink would kill this process by SIGBUS when the peer shrinks it.
Status check_memory(int fd, std::size_t size, ConnectionShape shape) {
  struct stat status {};
  const int seals = ::fcntl(fd, F_GET_SEALS);
  std::array<std::byte, kPreamble> preamble{};
  if (::fstat(fd, &status) != 0 || seals < 0 || (seals & F_SEAL_SHRINK) == 0 ||
      ::pread(fd, preamble.data(), kPreamble, 0) != static_cast<ssize_t>(kPreamble)) {
    return Error{ErrorCode::Corrupt, "the peer sent a file that is not sealed memory",
                 "use the same version on every rank"};
  }
  RINGSIDE_TRY(check_preamble(preamble, shape));
  if (status.st_size != static_cast<off_t>(size)) {
    return Error{ErrorCode::Corrupt, fmt::format("the peer sent {} bytes of memory instead of {}",
                                                 status.st_size, size)};
  }
  return {};
}

/// What both ends share: the memory, the socket that tells of the peer's death, the abort flag.
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

  /// Nobody writes to the socket any more, so whatever poll() reports is its end.
  [[nodiscard]] bool is_peer_gone() const {
    pollfd poll{peer_.get(), POLLIN | POLLRDHUP, 0};
    return ::poll(&poll, 1, 0) > 0;
  }

  Fifo& fifo() { return fifo_; }
  [[nodiscard]] Bytes slot_size() const { return fifo_.slot_size(); }

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
    if (!is_held_ || size.value < 1 || size > slot_size()) {
      return Error{ErrorCode::InvalidArgument, fmt::format("post of {} bytes", size.value)};
    }
    is_held_ = false;
    end_.fifo().post(size);
    return {};
  }

  Result<bool> send(std::span<const std::byte> from) override {
    RINGSIDE_TRY(end_.check_abort());
    if (from.empty() || from.size() > slot_size().value) {
      return Error{ErrorCode::InvalidArgument, fmt::format("post of {} bytes", from.size())};
    }
    return end_.fifo().send(from);
  }

  // Memory moves by itself.
  Status progress() override { return {}; }
  [[nodiscard]] bool is_drained() const override { return true; }

  Status check_peer() override {
    RINGSIDE_TRY(end_.check_abort());
    if (end_.is_peer_gone()) return peer_gone();
    return {};
  }

  void abort() noexcept override { end_.abort(); }
  [[nodiscard]] Bytes slot_size() const override { return end_.slot_size(); }

 private:
  ShmEnd<Fifo> end_;
  bool is_held_ = false;
};

template <typename Fifo>
class ShmRecvEnd final : public RecvEnd {
 public:
  ShmRecvEnd(Mapping mapping, UniqueFd peer, Bytes slot_size)
      : end_(std::move(mapping), std::move(peer), slot_size) {}

  Result<std::span<const std::byte>> peek() override {
    RINGSIDE_TRY(end_.check_abort());
    Result<std::span<const std::byte>> slot = end_.fifo().peek();
    is_held_ = slot && !slot->empty();
    return slot;
  }

  Status release() override {
    RINGSIDE_TRY(end_.check_abort());
    if (!is_held_) return Error{ErrorCode::InvalidArgument, "release of a slot that is not held"};
    is_held_ = false;
    end_.fifo().release();
    return {};
  }

  Result<bool> take(std::span<std::byte> to) override {
    RINGSIDE_TRY(end_.check_abort());
    return end_.fifo().take(to);
  }

  Status progress() override { return {}; }

  Status check_peer() override {
    RINGSIDE_TRY(end_.check_abort());
    // In this order: what the peer posted before its end is seen before its end.
    const bool is_gone = end_.is_peer_gone();
    if (is_gone && !end_.fifo().has_arrived()) return peer_gone();
    return {};
  }

  void abort() noexcept override { end_.abort(); }
  [[nodiscard]] Bytes slot_size() const override { return end_.slot_size(); }

 private:
  ShmEnd<Fifo> end_;
  bool is_held_ = false;
};

template <typename Fifo>
Result<std::unique_ptr<RecvEnd>> make_recv_end(UniqueFd peer, ConnectionShape shape,
                                               Deadline deadline) {
  const std::size_t size = kFifoAt + Fifo::memory_for(shape.slot_size).value;
  RINGSIDE_TRY(const UniqueFd memory, make_memory(size));
  RINGSIDE_TRY(Mapping mapping, Mapping::map(memory.get(), size));
  const auto preamble = preamble_of(shape);
  std::memcpy(mapping.data(), preamble.data(), preamble.size());
  RINGSIDE_TRY(send_fd(peer.get(), memory.get(), deadline));
  return std::make_unique<ShmRecvEnd<Fifo>>(std::move(mapping), std::move(peer), shape.slot_size);
}

template <typename Fifo>
Result<std::unique_ptr<SendEnd>> make_send_end(UniqueFd peer, ConnectionShape shape,
                                               Deadline deadline) {
  const std::size_t size = kFifoAt + Fifo::memory_for(shape.slot_size).value;
  RINGSIDE_TRY(const UniqueFd memory, recv_fd(peer.get(), deadline));
  RINGSIDE_TRY(check_memory(memory.get(), size, shape));
  RINGSIDE_TRY(Mapping mapping, Mapping::map(memory.get(), size));
  return std::make_unique<ShmSendEnd<Fifo>>(std::move(mapping), std::move(peer), shape.slot_size);
}

}  // namespace

Result<std::unique_ptr<RecvEnd>> make_shm_recv_end(UniqueFd peer, Bytes slot_size,
                                                   Deadline deadline, Protocol protocol) {
  const ConnectionShape shape{protocol, slot_size};
  switch (protocol) {
    case Protocol::LL:
      return make_recv_end<LineFifo<Ll>>(std::move(peer), shape, deadline);
    case Protocol::LL128:
      return make_recv_end<LineFifo<Ll128>>(std::move(peer), shape, deadline);
    case Protocol::Simple:
      break;
  }
  return make_recv_end<SlotFifo>(std::move(peer), shape, deadline);
}

Result<std::unique_ptr<SendEnd>> make_shm_send_end(UniqueFd peer, Bytes slot_size,
                                                   Deadline deadline, Protocol protocol) {
  const ConnectionShape shape{protocol, slot_size};
  switch (protocol) {
    case Protocol::LL:
      return make_send_end<LineFifo<Ll>>(std::move(peer), shape, deadline);
    case Protocol::LL128:
      return make_send_end<LineFifo<Ll128>>(std::move(peer), shape, deadline);
    case Protocol::Simple:
      break;
  }
  return make_send_end<SlotFifo>(std::move(peer), shape, deadline);
}

}  // namespace ringside
