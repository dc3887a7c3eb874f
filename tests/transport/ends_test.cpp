#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>

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

Ends shm_ends() {
  auto [a, b] = socket_pair();
  const Deadline deadline = deadline_in(std::chrono::seconds(5));
  auto recv = make_shm_recv_end(std::move(b), kSlot, deadline);
  auto send = make_shm_send_end(std::move(a), kSlot, deadline);
  EXPECT_TRUE(recv && send);
  return {*std::move(send), *std::move(recv)};
}

/// The tcp ends only want a stream socket; a pair is one without a port.
Ends tcp_ends() {
  auto [a, b] = socket_pair();
  return {make_tcp_send_end(std::move(a), kSlot), make_tcp_recv_end(std::move(b), kSlot)};
}

struct Medium {
  const char* name;
  Ends (*make)();
};

class TransportEnds : public testing::TestWithParam<Medium> {
 protected:
  Ends ends_ = GetParam().make();

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

INSTANTIATE_TEST_SUITE_P(Media, TransportEnds,
                         testing::Values(Medium{"shm", shm_ends}, Medium{"tcp", tcp_ends}),
                         [](const auto& medium) { return medium.param.name; });

TEST(ShmEnd, MemoryThatIsNotSealedIsRefused) {
  auto [a, b] = socket_pair();
  const Deadline deadline = deadline_in(std::chrono::seconds(5));
  const UniqueFd zero(::open("/dev/zero", O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(send_fd(b.get(), zero.get(), deadline));
  const auto end = make_shm_send_end(std::move(a), kSlot, deadline);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::Corrupt);
}

TEST(TcpEnd, ASlotLongerThanAgreedIsRefusedBeforeItIsRead) {
  auto [a, b] = socket_pair();
  const auto end = make_tcp_recv_end(std::move(b), kSlot);
  const std::uint32_t huge = 0xfffffff0;
  ASSERT_EQ(::send(a.get(), &huge, sizeof huge, 0), static_cast<ssize_t>(sizeof huge));
  const auto slot = end->peek();
  ASSERT_FALSE(slot);
  EXPECT_EQ(slot.error().code, ErrorCode::Corrupt);
}

}  // namespace
}  // namespace ringside
