#include "engine/cuda/links/proxy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/cuda/device/move_lines.h"

namespace ringside {
namespace {

std::uint64_t acquire(std::uint64_t* counter) {
  return std::atomic_ref(*counter).load(std::memory_order_acquire);
}
void release(std::uint64_t* counter, std::uint64_t value) {
  std::atomic_ref(*counter).store(value, std::memory_order_release);
}

std::byte* slot_at(const ProxyFifo& fifo, std::uint64_t step) {
  const auto slot = static_cast<std::int64_t>(step % static_cast<std::uint64_t>(fifo.slots));
  return fifo.end.slots + slot * device_slot_memory(fifo.protocol, fifo.slot);
}

Error not_a_slot(std::size_t bytes, std::int64_t slot) {
  return {ErrorCode::Corrupt,
          fmt::format("a message of {} bytes does not fit a slot of {} bytes", bytes, slot),
          "use the same version on every rank"};
}

/// Same as in the kernel: each word is one relaxed store or load (LlUnits).
Pack load_words(std::byte* from) {
  auto* const words = reinterpret_cast<std::uint64_t*>(from);
  return {std::atomic_ref(words[0]).load(std::memory_order_relaxed),
          std::atomic_ref(words[1]).load(std::memory_order_relaxed)};
}
void store_words(std::byte* to, const Pack& pack) {
  auto* const words = reinterpret_cast<std::uint64_t*>(to);
  std::atomic_ref(words[0]).store(pack.low, std::memory_order_relaxed);
  std::atomic_ref(words[1]).store(pack.high, std::memory_order_relaxed);
}

class SendProxy final : public Proxy {
 public:
  SendProxy(const ProxyFifo& fifo, SendEnd& to)
      : fifo_(fifo),
        to_(to),
        data_(static_cast<std::size_t>(fifo.slot)),
        sent_(acquire(fifo.end.head)) {}

  Result<bool> move() override {
    RINGSIDE_TRY(to_.progress());
    if (is_empty()) return false;
    RINGSIDE_TRY(const std::span<const std::byte> data, message());
    RINGSIDE_TRY(const bool is_sent, to_.send(data));
    if (!is_sent) return false;
    release(fifo_.end.head, ++sent_);
    return true;
  }
  [[nodiscard]] bool is_drained() const override { return is_empty() && to_.is_drained(); }
  Status check_peer() override { return to_.check_peer(); }

 private:
  [[nodiscard]] bool is_empty() const { return acquire(fifo_.end.tail) == sent_; }

  /// Returns the oldest posted slot: all stores of the strand happened before the tail that was read.
  Result<std::span<const std::byte>> message() {
    std::byte* const slot = slot_at(fifo_, sent_);
    const std::size_t bytes = fifo_.end.sizes[sent_ % static_cast<std::uint64_t>(fifo_.slots)];
    if (bytes == 0 || bytes > data_.size()) return not_a_slot(bytes, fifo_.slot);
    if (fifo_.protocol == Protocol::Simple) return std::span<const std::byte>(slot, bytes);
    const auto size = static_cast<std::int64_t>(bytes);
    for (std::int64_t unit = 0; unit < LlUnits::count(size); ++unit) {
      const Pack wire = load_words(slot + unit * 16);
      if (!LlUnits::has_arrived(wire, unit, sent_)) {
        return Error{ErrorCode::Corrupt,
                     fmt::format("line {} of message {} lacks its flag", unit, sent_),
                     "an error in this program: please report it with this line"};
      }
      const Pack data = LlUnits::data_of(wire);
      const std::int64_t at = LlUnits::data_at(unit);
      std::memcpy(data_.data() + at, &data.low,
                  static_cast<std::size_t>(std::min(LlUnits::data_bytes(unit), size - at)));
    }
    return std::span<const std::byte>(data_.data(), bytes);
  }

  const ProxyFifo fifo_;
  SendEnd& to_;
  std::vector<std::byte> data_;  ///< for LL: the data without flags
  std::uint64_t sent_;
};

class RecvProxy final : public Proxy {
 public:
  RecvProxy(const ProxyFifo& fifo, RecvEnd& from)
      : fifo_(fifo), from_(from), put_(acquire(fifo.end.tail)) {}

  Result<bool> move() override {
    RINGSIDE_TRY(from_.progress());
    const auto slots = static_cast<std::uint64_t>(fifo_.slots);
    if (put_ >= acquire(fifo_.end.head) + slots) return false;
    RINGSIDE_TRY(const std::span<const std::byte> data, from_.peek());
    if (data.empty()) return false;
    if (data.size() > static_cast<std::size_t>(fifo_.slot)) {
      return not_a_slot(data.size(), fifo_.slot);
    }
    if (fifo_.protocol == Protocol::Simple) {
      std::memcpy(slot_at(fifo_, put_), data.data(), data.size());
    } else {
      put_lines(data);
    }
    RINGSIDE_TRY(from_.release());
    release(fifo_.end.tail, ++put_);
    return true;
  }
  [[nodiscard]] bool is_drained() const override { return true; }
  Status check_peer() override { return from_.check_peer(); }

 private:
  void put_lines(std::span<const std::byte> data) {
    std::byte* const slot = slot_at(fifo_, put_);
    const auto size = static_cast<std::int64_t>(data.size());
    const std::int64_t units = LlUnits::count(size);
    for (std::int64_t unit = 0; unit < units; ++unit) {
      const std::int64_t at = LlUnits::data_at(unit);
      Pack pack;
      std::memcpy(&pack.low, data.data() + at,
                  static_cast<std::size_t>(std::min(LlUnits::data_bytes(unit), size - at)));
      store_words(slot + unit * 16, LlUnits::wire_of(pack, unit, put_));
    }
    if (!writes_every_line(put_, fifo_.slots)) return;
    const std::int64_t most = device_slot_memory(Protocol::LL, fifo_.slot) / 16;
    for (std::int64_t unit = units; unit < most; ++unit) {
      store_words(slot + unit * 16, LlUnits::wire_of({}, unit, put_));
    }
  }

  const ProxyFifo fifo_;
  RecvEnd& from_;
  std::uint64_t put_;
};

/// The proxy of an end that sends from the kernel's slots. Both count messages from 0: the kernel may reuse a slot
/// when the end has sent it.
class LentSendProxy final : public Proxy {
 public:
  LentSendProxy(const ProxyFifo& fifo, SendEnd& to) : fifo_(fifo), to_(to) {}

  Result<bool> move() override {
    RINGSIDE_TRY(to_.progress());
    const bool has_freed = free_done();
    if (acquire(fifo_.end.tail) == posted_) return has_freed;
    const std::size_t bytes = fifo_.end.sizes[posted_ % static_cast<std::uint64_t>(fifo_.slots)];
    if (bytes == 0 || bytes > static_cast<std::size_t>(fifo_.slot)) {
      return not_a_slot(bytes, fifo_.slot);
    }
    RINGSIDE_TRY(const std::span<std::byte> slot, to_.acquire());
    if (slot.empty()) return has_freed;
    RINGSIDE_TRY(to_.post(Bytes{bytes}));
    ++posted_;
    return true;
  }
  [[nodiscard]] bool is_drained() const override {
    return acquire(fifo_.end.tail) == posted_ && to_.is_drained();
  }
  Status check_peer() override { return to_.check_peer(); }

 private:
  bool free_done() {
    const std::uint64_t done = to_.done();
    if (done == freed_) return false;
    freed_ = done;
    release(fifo_.end.head, done);
    return true;
  }

  const ProxyFifo fifo_;
  SendEnd& to_;
  std::uint64_t posted_ = 0;
  std::uint64_t freed_ = 0;  ///< slots freed so far, as reported to the kernel
};

/// The proxy of an end that receives into the kernel's slots: several may be filled, and each is returned when the
/// kernel is done with it.
class LentRecvProxy final : public Proxy {
 public:
  LentRecvProxy(const ProxyFifo& fifo, RecvEnd& from) : fifo_(fifo), from_(from) {}

  Result<bool> move() override {
    RINGSIDE_TRY(from_.progress());
    bool has_moved = false;
    for (const std::uint64_t taken = acquire(fifo_.end.head); returned_ < taken; ++returned_) {
      RINGSIDE_TRY([[maybe_unused]] const std::span<const std::byte> slot, from_.peek());
      RINGSIDE_TRY(from_.release());
      has_moved = true;
    }
    const std::uint64_t arrived = from_.arrived();
    if (arrived == published_) return has_moved;
    if (fifo_.flush) RINGSIDE_TRY(fifo_.flush());
    published_ = arrived;
    release(fifo_.end.tail, published_);
    return true;
  }
  [[nodiscard]] bool is_drained() const override { return true; }
  Status check_peer() override { return from_.check_peer(); }

 private:
  const ProxyFifo fifo_;
  RecvEnd& from_;
  std::uint64_t published_ = 0;  ///< slots published to the kernel so far
  std::uint64_t returned_ = 0;   ///< slots returned to the sender so far
};

}  // namespace

std::unique_ptr<Proxy> make_send_proxy(const ProxyFifo& fifo, SendEnd& to) {
  if (to.lent().region != nullptr) return std::make_unique<LentSendProxy>(fifo, to);
  return std::make_unique<SendProxy>(fifo, to);
}
std::unique_ptr<Proxy> make_recv_proxy(const ProxyFifo& fifo, RecvEnd& from) {
  if (from.lent().region != nullptr) return std::make_unique<LentRecvProxy>(fifo, from);
  return std::make_unique<RecvProxy>(fifo, from);
}

Status serve(std::span<Proxy* const> proxies, const std::atomic<bool>& is_over,
             const Failure& failure, const WaitPolicy& policy) {
  Waiter waiter(policy);
  while (!failure.happened()) {
    // In this order, everything that a launch has posted is seen before the launch's end.
    const bool was_over = is_over.load(std::memory_order_acquire);
    bool has_moved = false;
    for (Proxy* const proxy : proxies) {
      RINGSIDE_TRY(const bool moved, proxy->move());
      has_moved = has_moved || moved;
    }
    if (has_moved) {
      waiter = Waiter(policy);
      continue;
    }
    if (was_over && std::ranges::all_of(proxies, [](Proxy* one) { return one->is_drained(); })) {
      return {};
    }
    switch (waiter.pause()) {
      case Waiter::Advice::LookAgain:
        break;
      case Waiter::Advice::AskAboutPeer:
        for (Proxy* const proxy : proxies) RINGSIDE_TRY(proxy->check_peer());
        break;
      case Waiter::Advice::GiveUp:
        // During a launch, the launch's own waits know which peer they wait for.
        waiter = Waiter(policy);
        if (!was_over) break;
        return Error{ErrorCode::Timeout,
                     fmt::format("the transport did not send a kernel's messages within {} s",
                                 Seconds(policy.deadline).count()),
                     "check that all ranks are alive"};
    }
  }
  return {};
}

}  // namespace ringside
