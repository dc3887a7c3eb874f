#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "engine/protocol/wire_lines.h"
#include "engine/transport/frame.h"
#include "engine/transport/preamble.h"
#include "engine/transport/shm.h"
#include "engine/transport/socket.h"
#include "engine/transport/tcp.h"

namespace ringside {
namespace {

constexpr Bytes kSlot = 4_KiB;

struct Ends {
  std::unique_ptr<SendEnd> send;
  std::unique_ptr<RecvEnd> recv;
};

/// Two sockets that talk to each other, non-blocking as the transports want them.
std::pair<UniqueFd, UniqueFd> socket_pair() {
  int pair[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
  return {UniqueFd(pair[0]), UniqueFd(pair[1])};
}

Ends shm_ends(Protocol protocol) {
  auto [a, b] = socket_pair();
  const Deadline deadline = deadline_in(std::chrono::seconds(5));
  auto recv = make_shm_recv_end(std::move(b), kSlot, deadline, protocol);
  auto send = make_shm_send_end(std::move(a), kSlot, deadline, protocol);
  EXPECT_TRUE(recv && send);
  return {*std::move(send), *std::move(recv)};
}

/// The tcp ends only want a stream socket; a pair is one without a port.
Ends tcp_ends(Protocol protocol) {
  auto [a, b] = socket_pair();
  return {make_tcp_send_end(std::move(a), kSlot, protocol),
          make_tcp_recv_end(std::move(b), kSlot, protocol)};
}

struct Medium {
  const char* name;
  Ends (*make)(Protocol);
};

class TransportEnds : public testing::TestWithParam<std::tuple<Medium, Protocol>> {
 protected:
  Ends ends_ = std::get<Medium>(GetParam()).make(std::get<Protocol>(GetParam()));

  static bool send_word(SendEnd& send, std::uint64_t word) {
    const auto slot = send.acquire();
    if (!slot || slot->empty()) return false;
    std::memcpy(slot->data(), &word, sizeof word);
    return static_cast<bool>(send.post(Bytes{sizeof word}));
  }
  static std::optional<std::uint64_t> take_word(RecvEnd& recv) {
    const auto slot = recv.peek();
    if (!slot || slot->size() != sizeof(std::uint64_t)) return std::nullopt;
    std::uint64_t word = 0;
    std::memcpy(&word, slot->data(), sizeof word);
    EXPECT_TRUE(recv.release());
    return word;
  }
};

TEST_P(TransportEnds, SlotsArriveInTheOrderTheyWerePosted) {
  for (std::uint64_t round = 0; round < 100; ++round) {
    for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(send_word(*ends_.send, 4 * round + i));
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(take_word(*ends_.recv), 4 * round + i);
  }
  EXPECT_TRUE(ends_.send->is_drained());
}

// Any length after any other, as many as fit on the way, half of them from the slot and half straight.
TEST_P(TransportEnds, MessagesOfAllLengthsArriveWhole) {
  std::mt19937 random(20261120);
  std::deque<std::vector<std::byte>> on_the_way;
  int taken = 0;
  for (int turn = 0; turn < 200'000 && taken < 3000; ++turn) {
    if (random() % 2 == 0) {
      const std::size_t length = random() % 3 == 0 ? kSlot.value : 1 + random() % kSlot.value;
      const std::vector<std::byte> message(length, static_cast<std::byte>(random()));
      if (random() % 2 == 0) {
        const auto sent = ends_.send->send(message);
        ASSERT_TRUE(sent) << sent.error().message;
        if (*sent) on_the_way.push_back(message);
      } else if (const auto slot = ends_.send->acquire(); slot && !slot->empty()) {
        std::ranges::copy(message, slot->begin());
        ASSERT_TRUE(ends_.send->post(Bytes{length}));
        on_the_way.push_back(message);
      }
    } else if (!on_the_way.empty()) {
      ASSERT_TRUE(ends_.send->progress());
      const auto arrived = ends_.recv->peek();
      ASSERT_TRUE(arrived) << arrived.error().message;
      if (arrived->empty()) continue;
      ASSERT_TRUE(std::ranges::equal(*arrived, on_the_way.front()));
      ASSERT_TRUE(ends_.recv->release());
      on_the_way.pop_front();
      ++taken;
    }
  }
  EXPECT_EQ(taken, 3000);
}

TEST_P(TransportEnds, AnEmptyConnectionGivesAnEmptySlot) {
  const auto slot = ends_.recv->peek();
  ASSERT_TRUE(slot);
  EXPECT_TRUE(slot->empty());
}

// A medium may hold more than 8 slots on its way (a socket's buffer does), but not endlessly many.
TEST_P(TransportEnds, ASenderThatNobodyEmptiesRunsOutOfSlots) {
  bool is_full = false;
  for (int i = 0; i < 10'000 && !is_full; ++i) {
    const auto slot = ends_.send->acquire();
    ASSERT_TRUE(slot);
    is_full = slot->empty();
    if (!is_full) {
      ASSERT_TRUE(ends_.send->post(kSlot));
    }
  }
  EXPECT_TRUE(is_full);
}

TEST_P(TransportEnds, SizesOutsideTheSlotAreRefused) {
  ASSERT_TRUE(ends_.send->acquire());
  EXPECT_EQ(ends_.send->post(0_B).error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(ends_.send->post(kSlot + 1_B).error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(ends_.recv->release().error().code, ErrorCode::InvalidArgument);
}

TEST_P(TransportEnds, WhatWasPostedBeforeTheEndIsStillReceived) {
  ASSERT_TRUE(send_word(*ends_.send, 7));
  ends_.send.reset();
  EXPECT_EQ(take_word(*ends_.recv), 7U);
  const bool is_gone = !ends_.recv->peek() || !ends_.recv->check_peer();
  EXPECT_TRUE(is_gone);
}

TEST_P(TransportEnds, TheSenderLearnsThatTheReceiverIsGone) {
  ends_.recv.reset();
  const Status alive = ends_.send->check_peer();
  ASSERT_FALSE(alive);
  EXPECT_EQ(alive.error().code, ErrorCode::PeerGone);
}

TEST_P(TransportEnds, AbortFromAnotherThreadEndsBothSides) {
  std::thread([&] {
    ends_.send->abort();
    ends_.recv->abort();
  }).join();
  EXPECT_EQ(ends_.send->acquire().error().code, ErrorCode::Aborted);
  EXPECT_EQ(ends_.recv->peek().error().code, ErrorCode::Aborted);
}

TEST_P(TransportEnds, WholeSlotsCrossBetweenTwoThreads) {
  constexpr int kSlotsSent = 3000;
  std::jthread sending([&] {
    for (int i = 0; i < kSlotsSent;) {
      const auto slot = ends_.send->acquire();
      if (!slot) return;
      if (slot->empty()) {
        std::this_thread::yield();
        continue;
      }
      std::memset(slot->data(), i % 251, slot->size());
      if (!ends_.send->post(kSlot)) return;
      ++i;
    }
    while (!ends_.send->is_drained()) static_cast<void>(ends_.send->progress());
  });
  int wrong = 0;
  for (int i = 0; i < kSlotsSent;) {
    const auto slot = ends_.recv->peek();
    ASSERT_TRUE(slot);
    if (slot->empty()) {
      std::this_thread::yield();
      continue;
    }
    for (const std::byte byte : *slot) wrong += std::to_integer<int>(byte) != i % 251 ? 1 : 0;
    ASSERT_TRUE(ends_.recv->release());
    ++i;
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(TransportEnds, AKilledSenderIsNoticed) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ends_.recv.reset();
    ::pause();
    ::_exit(0);
  }
  ends_.send.reset();  // only the child holds the sending end now
  EXPECT_TRUE(ends_.recv->check_peer());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(!ends_.recv->peek() || !ends_.recv->check_peer());
}

// 4 KiB in steps of 1 to 4096 bytes, by the long way and by the short one.
TEST_P(TransportEnds, WhatIsSentTheShortWayIsTakenEitherWay) {
  std::vector<std::byte> sent(kSlot.value);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t size = 1; size <= kSlot.value; size = size * 2 + size % 3) {
    const std::span<const std::byte> bytes = std::span(sent).first(size);
    for (const bool takes : {false, true}) {
      const Result<bool> posted = ends_.send->send(bytes);
      ASSERT_TRUE(posted && *posted);
      std::vector<std::byte> got(size);
      if (takes) {
        const Result<bool> taken = ends_.recv->take(got);
        ASSERT_TRUE(taken && *taken);
      } else {
        const auto slot = ends_.recv->peek();
        ASSERT_TRUE(slot);
        got.assign(slot->begin(), slot->end());
        ASSERT_TRUE(ends_.recv->release());
      }
      EXPECT_TRUE(std::ranges::equal(got, bytes));
    }
  }
  EXPECT_FALSE(*ends_.recv->take(sent));
}

TEST_P(TransportEnds, TakingAnotherSizeThanWasSentIsAnErrorThatNamesBoth) {
  ASSERT_TRUE(send_word(*ends_.send, 7));
  std::vector<std::byte> to(12);
  const Result<bool> taken = ends_.recv->take(to);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::InvalidArgument);
  EXPECT_NE(taken.error().message.find("it sent 8 bytes where this rank expects 12"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Media, TransportEnds,
    testing::Combine(testing::Values(Medium{"shm", shm_ends}, Medium{"tcp", tcp_ends}),
                     testing::Values(Protocol::Simple, Protocol::LL, Protocol::LL128)),
    [](const auto& test) {
      return std::string(std::get<Medium>(test.param).name) + "_" +
             to_string(std::get<Protocol>(test.param));
    });

TEST(ShmEnd, ARankWithAnotherProtocolIsToldBoth) {
  auto [a, b] = socket_pair();
  const Deadline deadline = deadline_in(std::chrono::seconds(5));
  const auto recv = make_shm_recv_end(std::move(b), kSlot, deadline, Protocol::LL128);
  const auto send = make_shm_send_end(std::move(a), kSlot, deadline, Protocol::LL);
  ASSERT_FALSE(send);
  EXPECT_EQ(send.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(send.error().message,
            "it has ll128 in slots of 4096 bytes where this rank has ll in slots of 4096 bytes");
}

TEST(ShmEnd, MemoryThatIsNotSealedIsRefused) {
  auto [a, b] = socket_pair();
  const Deadline deadline = deadline_in(std::chrono::seconds(5));
  const UniqueFd zero(::open("/dev/zero", O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(send_fd(b.get(), zero.get(), deadline));
  const auto end = make_shm_send_end(std::move(a), kSlot, deadline);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::Corrupt);
}

/// A receiving end, and the socket that plays its sender.
struct FakeSender {
  UniqueFd socket;
  std::unique_ptr<RecvEnd> end;

  explicit FakeSender(Protocol protocol) {
    auto [a, b] = socket_pair();
    socket = std::move(a);
    end = make_tcp_recv_end(std::move(b), kSlot, protocol);
  }
  void send(std::span<const std::byte> bytes) const {
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] ErrorCode error() const {
    const auto slot = end->peek();
    EXPECT_FALSE(slot);
    return slot ? ErrorCode::System : slot.error().code;
  }
};

TEST(TcpEnd, ASlotLongerThanAgreedIsRefusedBeforeItIsRead) {
  const FakeSender sender(Protocol::Simple);
  sender.send(preamble_of({Protocol::Simple, kSlot}));
  sender.send(frame_header(0xfffffff0));
  EXPECT_EQ(sender.error(), ErrorCode::Corrupt);
}

TEST(TcpEnd, ARankWithAnotherProtocolOrSlotSizeIsTold) {
  for (const ConnectionShape theirs :
       {ConnectionShape{Protocol::LL, kSlot}, ConnectionShape{Protocol::Simple, kSlot * 2}}) {
    const FakeSender sender(Protocol::Simple);
    sender.send(preamble_of(theirs));
    EXPECT_EQ(sender.error(), ErrorCode::InvalidArgument);
    EXPECT_EQ(sender.error(), ErrorCode::InvalidArgument);  // and it stays so
  }
}

TEST(TcpEnd, WhatDoesNotBeginAsAConnectionIsCorrupt) {
  for (const std::size_t wrong : {0U, 4U, 6U}) {
    const FakeSender sender(Protocol::Simple);
    auto preamble = preamble_of({Protocol::Simple, kSlot});
    preamble.at(wrong) = std::byte{9};
    sender.send(preamble);
    EXPECT_EQ(sender.error(), ErrorCode::Corrupt);
  }
}

// A step that comes twice: the second time its flags are one behind.
TEST(TcpEnd, LinesOfAnotherStepAreCorrupt) {
  for (const Protocol protocol : {Protocol::LL, Protocol::LL128}) {
    const FakeSender sender(protocol);
    sender.send(preamble_of({protocol, kSlot}));
    const std::vector<std::byte> data(100, std::byte{5});
    std::vector<std::byte> wire(wire_size(protocol, Bytes{data.size()}).value);
    pack_wire(protocol, wire, data, 0);
    for (int twice = 0; twice < 2; ++twice) sender.send(make_frame(wire));
    ASSERT_EQ(sender.end->peek()->size(), data.size());
    ASSERT_TRUE(sender.end->release());
    const auto slot = sender.end->peek();
    ASSERT_FALSE(slot);
    EXPECT_EQ(slot.error().code, ErrorCode::Corrupt);
    EXPECT_NE(slot.error().message.find("line 0 of step 1 carries the flag 1 where 2 is due"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace ringside
