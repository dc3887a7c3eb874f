#include "engine/cuda/links/proxy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>

#include "engine/cuda/device/device_fifo.h"
#include "engine/cuda/device/move_lines.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

constexpr std::int64_t kSlot = 512;
using Message = std::vector<std::byte>;

/// The connection between a sending and a receiving end; it holds as many messages as it is long.
struct Line {
  std::deque<Message> messages;
  std::size_t most = 4;
};

class LineSendEnd final : public SendEnd {
 public:
  explicit LineSendEnd(Line& line) : line_(line) {}
  Result<std::span<std::byte>> acquire() override { return std::span<std::byte>(); }
  Status post(Bytes /*size*/) override { return {}; }
  Result<bool> send(std::span<const std::byte> from) override {
    if (line_.messages.size() >= line_.most) return false;
    line_.messages.emplace_back(from.begin(), from.end());
    return true;
  }
  [[nodiscard]] bool is_drained() const override { return true; }
  Status progress() override { return {}; }
  Status check_peer() override { return {}; }
  void abort() noexcept override {}
  [[nodiscard]] Bytes slot_size() const override { return Bytes{kSlot}; }

 private:
  Line& line_;
};

class LineRecvEnd final : public RecvEnd {
 public:
  explicit LineRecvEnd(Line& line) : line_(line) {}
  Result<std::span<const std::byte>> peek() override {
    if (line_.messages.empty()) return std::span<const std::byte>();
    return std::span<const std::byte>(line_.messages.front());
  }
  Status release() override {
    line_.messages.pop_front();
    return {};
  }
  Status progress() override { return {}; }
  Status check_peer() override { return {}; }
  void abort() noexcept override {}
  [[nodiscard]] Bytes slot_size() const override { return Bytes{kSlot}; }

 private:
  Line& line_;
};

/// A line whose ends work on the kernel's slots: sent data leave when the test says so.
class LentLineSendEnd final : public SendEnd {
 public:
  explicit LentLineSendEnd(std::byte* slots) : slots_(slots) {}
  Result<std::span<std::byte>> acquire() override {
    if (sizes.size() >= done_ + most) return std::span<std::byte>();
    return std::span(slots_ + sizes.size() % kSlots * kSlot, kSlot);
  }
  Status post(Bytes size) override {
    sizes.push_back(size.value);
    return {};
  }
  void leave(std::uint64_t messages) { done_ += messages; }
  [[nodiscard]] LentUse lent() const override { return {&region_, "lent"}; }
  [[nodiscard]] std::uint64_t done() const override { return done_; }
  [[nodiscard]] bool is_drained() const override { return done_ == sizes.size(); }
  Status progress() override { return {}; }
  Status check_peer() override { return {}; }
  void abort() noexcept override {}
  [[nodiscard]] Bytes slot_size() const override { return Bytes{kSlot}; }

  std::vector<std::size_t> sizes;  ///< of the posted messages
  std::size_t most = kSlots;       ///< the largest number of messages on the way

 private:
  std::byte* slots_;
  std::uint64_t done_ = 0;
  const HostRegion region_{Bytes{kSlot}};
};

class LentLineRecvEnd final : public RecvEnd {
 public:
  Result<std::span<const std::byte>> peek() override {
    return std::span<const std::byte>(region_.data(), released < arrived_ ? kSlot : 0);
  }
  Status release() override {
    ++released;
    return {};
  }
  void arrive(std::uint64_t messages) { arrived_ += messages; }
  [[nodiscard]] LentUse lent() const override { return {&region_, "lent"}; }
  [[nodiscard]] std::uint64_t arrived() const override { return arrived_; }
  Status progress() override { return {}; }
  Status check_peer() override { return {}; }
  void abort() noexcept override {}
  [[nodiscard]] Bytes slot_size() const override { return Bytes{kSlot}; }

  std::uint64_t released = 0;

 private:
  std::uint64_t arrived_ = 0;
  const HostRegion region_{Bytes{kSlot}};
};

/// A proxy's FIFO and the line behind it; the test does manually what a kernel does.
class ProxyTest : public testing::Test {
 protected:
  /// first  the number of messages that have passed already
  ProxyFifo fifo(Protocol protocol, bool receives, std::uint64_t first = 0) {
    ProxyFifo fifo{DeviceFifo(memory_.bytes).end(receives, true), protocol, kSlot};
    *fifo.end.head = *fifo.end.tail = first;
    return fifo;
  }
  static std::byte* slot(const ProxyFifo& fifo, std::uint64_t step) {
    return fifo.end.slots +
           static_cast<std::int64_t>(step % kSlots) * device_slot_memory(fifo.protocol, kSlot);
  }

  struct alignas(128) Memory {
    std::byte bytes[DeviceFifo::memory_for(Protocol::LL, Bytes{kSlot}, kSlots).value] = {};
  };
  Memory memory_;
  Line line_;
};

TEST_F(ProxyTest, SendsPostedSlotsAndThenReturnsThem) {
  const ProxyFifo kernel = fifo(Protocol::Simple, false);
  LineSendEnd end(line_);
  const auto proxy = make_send_proxy(kernel, end);
  EXPECT_FALSE(*proxy->move());
  EXPECT_TRUE(proxy->is_drained());
  line_.most = 1;
  for (std::uint64_t step = 0; step < 2; ++step) {
    std::memset(slot(kernel, step), static_cast<int>(step + 1), kSlot);
    kernel.end.sizes[step] = 100;
    *kernel.end.tail = step + 1;
  }
  EXPECT_TRUE(*proxy->move());
  EXPECT_FALSE(*proxy->move());  // the line is full
  EXPECT_EQ(*kernel.end.head, 1U);
  EXPECT_FALSE(proxy->is_drained());
  EXPECT_EQ(line_.messages.front(), Message(100, std::byte{1}));
  line_.messages.clear();
  EXPECT_TRUE(*proxy->move());
  EXPECT_EQ(*kernel.end.head, 2U);
  EXPECT_TRUE(proxy->is_drained());
}

TEST_F(ProxyTest, RefusesAMessageLongerThanASlot) {
  const ProxyFifo kernel = fifo(Protocol::Simple, false);
  LineSendEnd to(line_);
  kernel.end.sizes[0] = kSlot + 1;
  *kernel.end.tail = 1;
  const auto sent = make_send_proxy(kernel, to)->move();
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::Corrupt);
  const ProxyFifo other = fifo(Protocol::Simple, true);
  LineRecvEnd from(line_);
  line_.messages.emplace_back(kSlot + 1);
  const auto received = make_recv_proxy(other, from)->move();
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::Corrupt);
}

TEST_F(ProxyTest, NeverFillsMoreSlotsThanAreFree) {
  const ProxyFifo kernel = fifo(Protocol::Simple, true);
  LineRecvEnd end(line_);
  const auto proxy = make_recv_proxy(kernel, end);
  for (int i = 0; i < kSlots + 1; ++i) line_.messages.emplace_back(10, static_cast<std::byte>(i));
  for (int i = 0; i < kSlots; ++i) EXPECT_TRUE(*proxy->move());
  EXPECT_FALSE(*proxy->move());
  EXPECT_EQ(slot(kernel, 0)[0], std::byte{0});
  *kernel.end.head = 1;
  EXPECT_TRUE(*proxy->move());
  EXPECT_EQ(slot(kernel, 0)[0], static_cast<std::byte>(kSlots));
  EXPECT_EQ(*kernel.end.tail, static_cast<std::uint64_t>(kSlots) + 1);
}

// Lines of one side's slots, data on the way, lines in the other's: a length of each kind of last line.
TEST_F(ProxyTest, LinesLoseTheirFlagsOnTheWayAndGetThemBack) {
  for (const std::size_t bytes : {1U, 7U, 8U, 9U, 511U, 512U}) {
    SCOPED_TRACE(bytes);
    const ProxyFifo kernel = fifo(Protocol::LL, true, 5);
    LineRecvEnd from(line_);
    LineSendEnd to(line_);
    Message message(bytes);
    for (std::size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(i * 7 + 1);
    line_.messages.push_back(message);
    ASSERT_TRUE(*make_recv_proxy(kernel, from)->move());
    const auto* const first = reinterpret_cast<const Pack*>(slot(kernel, 5));
    EXPECT_TRUE(LlUnits::has_arrived(*first, 0, 5));
    EXPECT_FALSE(LlUnits::has_arrived(*first, 0, 4));
    ProxyFifo back = fifo(Protocol::LL, false, 5);
    back.end.sizes[5] = static_cast<std::uint32_t>(bytes);
    *back.end.tail = 6;
    ASSERT_TRUE(*make_send_proxy(back, to)->move());
    EXPECT_EQ(line_.messages.front(), message);
    line_.messages.clear();
  }
}

TEST_F(ProxyTest, IgnoresALineWithoutItsFlag) {
  ProxyFifo kernel = fifo(Protocol::LL, false);
  LineSendEnd to(line_);
  kernel.end.sizes[0] = 8;
  *kernel.end.tail = 1;
  const auto sent = make_send_proxy(kernel, to)->move();
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::Corrupt);
}

// Flags recur after 2^32 messages: on the way, no line keeps a flag that is so old (device_call.h).
TEST_F(ProxyTest, OldFlagsAreWrittenOverTwiceOnTheWayRound) {
  constexpr std::uint64_t kBefore = 0x7FFFFFF8;
  ProxyFifo kernel = fifo(Protocol::LL, true, kBefore);
  LineRecvEnd from(line_);
  const auto proxy = make_recv_proxy(kernel, from);
  for (std::uint64_t step = kBefore; step < kBefore + 2 * kSlots; ++step) {
    line_.messages.emplace_back(8);
    ASSERT_TRUE(*proxy->move());
    *kernel.end.head = step + 1;
  }
  for (std::uint64_t i = 0; i < kSlots; ++i) {
    const auto* const last =
        reinterpret_cast<const Pack*>(slot(kernel, i) + device_slot_memory(Protocol::LL, kSlot)) -
        1;
    EXPECT_NE(last->low, 0U) << "slot " << i;
  }
}

// The adapter reads the slot until the message has left; only then may the kernel fill it again.
TEST_F(ProxyTest, ReturnsLentSlotsToTheKernelWhenSent) {
  const ProxyFifo kernel = fifo(Protocol::Simple, false);
  LentLineSendEnd end(kernel.end.slots);
  const auto proxy = make_send_proxy(kernel, end);
  for (std::uint64_t step = 0; step < 3; ++step)
    kernel.end.sizes[step] = 100 + static_cast<std::uint32_t>(step);
  *kernel.end.tail = 3;
  end.most = 2;
  EXPECT_TRUE(*proxy->move());
  EXPECT_TRUE(*proxy->move());
  EXPECT_FALSE(*proxy->move());  // two are on the way
  EXPECT_EQ(*kernel.end.head, 0U);
  end.leave(1);
  EXPECT_TRUE(*proxy->move());
  EXPECT_EQ(*kernel.end.head, 1U);
  EXPECT_EQ(end.sizes, (std::vector<std::size_t>{100, 101, 102}));
  EXPECT_FALSE(proxy->is_drained());
  end.leave(2);
  EXPECT_TRUE(proxy->is_drained());
  EXPECT_TRUE(*proxy->move());  // the next launch has room
  EXPECT_EQ(*kernel.end.head, 3U);
  EXPECT_FALSE(*proxy->move());
}

TEST_F(ProxyTest, TheKernelSeesAllLentSlotsThatHaveArrivedAndGivesThemBackOneByOne) {
  ProxyFifo kernel = fifo(Protocol::Simple, true);
  LentLineRecvEnd end;
  std::vector<std::uint64_t> tails;  // the values when it was flushed
  kernel.flush = [&]() -> Status {
    tails.push_back(*kernel.end.tail);
    return {};
  };
  const auto proxy = make_recv_proxy(kernel, end);
  EXPECT_FALSE(*proxy->move());
  end.arrive(5);
  EXPECT_TRUE(*proxy->move());
  EXPECT_EQ(*kernel.end.tail, 5U);
  EXPECT_EQ(end.released, 0U);
  *kernel.end.head = 2;
  EXPECT_TRUE(*proxy->move());
  EXPECT_EQ(end.released, 2U);
  EXPECT_FALSE(*proxy->move());
  end.arrive(2);
  EXPECT_TRUE(*proxy->move());
  EXPECT_EQ(*kernel.end.tail, 7U);
  // Flushed each time before the kernel was informed.
  EXPECT_EQ(tails, (std::vector<std::uint64_t>{0, 5}));
}

TEST_F(ProxyTest, LentSlotsThatCouldNotBeFlushedAreNotReported) {
  ProxyFifo kernel = fifo(Protocol::Simple, true);
  LentLineRecvEnd end;
  kernel.flush = [] { return Status(Error{ErrorCode::System, "the GPU is gone"}); };
  const auto proxy = make_recv_proxy(kernel, end);
  end.arrive(1);
  EXPECT_FALSE(proxy->move());
  EXPECT_EQ(*kernel.end.tail, 0U);
}

TEST_F(ProxyTest, ServesUntilTheLaunchHasEndedAndAllHasLeft) {
  const ProxyFifo kernel = fifo(Protocol::Simple, false);
  LineSendEnd end(line_);
  const auto proxy = make_send_proxy(kernel, end);
  Proxy* const all[] = {proxy.get()};
  kernel.end.sizes[0] = 8;
  *kernel.end.tail = 1;
  const std::atomic<bool> is_over{true};
  Failure failure;
  EXPECT_TRUE(serve(all, is_over, failure, {}));
  EXPECT_EQ(line_.messages.size(), 1U);
  // The line stays full, and no kernel waits for it any more.
  kernel.end.sizes[1] = 8;
  *kernel.end.tail = 2;
  line_.most = 1;
  const Status late = serve(all, is_over, failure, {.spins = 1, .deadline = Nanoseconds(1000)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Timeout);
  // A failure elsewhere ends the proxy without an error of its own.
  const std::atomic<bool> runs{false};
  failure.set({ErrorCode::Aborted, "elsewhere"});
  EXPECT_TRUE(serve(all, runs, failure, {}));
}

}  // namespace
}  // namespace ringside
