#include "engine/transport/tcp/striped.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/environment_table.h"
#include "tests/transport/socket_pair.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

using testing::HasSubstr;

constexpr Bytes kLong = 256_KiB;

/// Holds both ends in this process, and nothing else.
struct Striped {
  std::unique_ptr<SendEnd> send;
  std::unique_ptr<RecvEnd> recv;

  explicit Striped(SocketCounts counts, ConnectionShape shape = {Protocol::Simple, kLong}) {
    std::vector<UniqueFd> near, far;
    for (std::size_t i = 0; i < counts.sockets(); ++i) {
      auto [a, b] = socket_pair();
      near.push_back(std::move(a));
      far.push_back(std::move(b));
    }
    send = *make_striped_send_end(std::move(near), shape, counts);
    recv = *make_striped_recv_end(std::move(far), shape, counts);
  }
};

std::vector<std::byte> made_up(std::size_t length, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(length);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

bool arrives(RecvEnd& recv, std::span<const std::byte> expected) {
  for (const Deadline deadline = in_20_s(); !has_passed(deadline); std::this_thread::yield()) {
    const auto slot = recv.peek();
    if (!slot) return false;
    if (slot->empty()) continue;
    return std::ranges::equal(*slot, expected) && recv.release();
  }
  return false;
}

bool sends(SendEnd& send, std::span<const std::byte> message) {
  for (const Deadline deadline = in_20_s(); !has_passed(deadline); std::this_thread::yield()) {
    const auto sent = send.send(message);
    if (!sent) return false;
    if (*sent) return true;
  }
  return false;
}

// Messages of all lengths in random order, from two threads, so that some lanes run ahead of others.
TEST(StripedEnds, SlotsOfAllLengthsArriveWholeAndInOrder) {
  for (const SocketCounts counts : {SocketCounts{1, 1}, SocketCounts{1, 3}, SocketCounts{3, 2}}) {
    Striped ends(counts);
    std::mt19937 random(18);
    std::vector<std::size_t> lengths{1, kLong.value, kLeastPart.value, kLeastPart.value + 1};
    for (int i = 0; i < 200; ++i) lengths.push_back(1 + random() % kLong.value);
    std::jthread sender([&] {
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (!sends(*ends.send, made_up(lengths[i], static_cast<unsigned>(i)))) return;
      }
    });
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      ASSERT_TRUE(arrives(*ends.recv, made_up(lengths[i], static_cast<unsigned>(i))))
          << i << " of " << to_string(counts);
    }
    sender.join();
    EXPECT_TRUE(ends.send->is_drained());
  }
}

TEST(StripedEnds, DataSentBeforeTheEndArrives) {
  Striped ends({2, 2});
  const auto message = made_up(kLong.value, 7);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sends(*ends.send, message));
  while (!ends.send->is_drained()) {
    // The kernel does not accept three long slots at once.
    if (const auto slot = ends.recv->peek(); slot && !slot->empty()) break;
  }
  std::jthread drained([&] {
    while (!ends.send->is_drained()) std::this_thread::yield();
    ends.send.reset();
  });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(arrives(*ends.recv, message)) << i;
  EXPECT_EQ(end_of(*ends.recv), ErrorCode::PeerGone);
}

TEST(StripedEnds, ASenderNoticesItsReceiversEnd) {
  Striped ends({2, 1});
  ends.recv.reset();
  EXPECT_EQ(end_of(*ends.send), ErrorCode::PeerGone);
}

TEST(StripedEnds, AbortEndsBothSides) {
  Striped ends({1, 2});
  ends.send->abort();
  ends.recv->abort();
  EXPECT_EQ(end_of(*ends.send), ErrorCode::Aborted);
  EXPECT_EQ(end_of(*ends.recv), ErrorCode::Aborted);
}

/// Returns the error of the receiving end for a sender that sends these bytes.
Error refusal_of(std::span<const std::byte> bytes) {
  auto [a, b] = socket_pair();
  std::vector<UniqueFd> sockets;
  sockets.push_back(std::move(b));
  const auto end = *make_striped_recv_end(std::move(sockets), {Protocol::Simple, kLong}, {1, 1});
  EXPECT_EQ(::send(a.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  for (const Deadline deadline = in_20_s(); !has_passed(deadline); std::this_thread::yield()) {
    const auto slot = end->peek();
    if (!slot) return slot.error();
    if (!slot->empty()) return {ErrorCode::System, "it was taken"};
  }
  return {ErrorCode::Timeout, "nothing was said"};
}

TEST(StripedEnds, ASenderOfAnotherShapeIsReported) {
  EXPECT_EQ(refusal_of(preamble_of({Protocol::Simple, kLong * 2})).code,
            ErrorCode::InvalidArgument);
}

TEST(StripedEnds, PartsThatNoSlotHasAreCorrupt) {
  const auto said_with = [](std::vector<PartMark> marks) {
    const auto preamble = preamble_of({Protocol::Simple, kLong});
    std::vector<std::byte> bytes(preamble.begin(), preamble.end());
    for (const PartMark& mark : marks) {
      const auto wire = mark.wire();
      bytes.insert(bytes.end(), wire.begin(), wire.end());
      if (mark.bytes < 100) bytes.resize(bytes.size() + mark.bytes);
    }
    return refusal_of(bytes);
  };
  const auto most = static_cast<std::uint32_t>(kLong.value);
  for (const PartMark mark : {PartMark{0, 0, 0, 0}, PartMark{0, 10, 10, 1}, PartMark{0, 10, 5, 6},
                              PartMark{0, 10, 5, 0}, PartMark{0, most + 1, 0, 10},
                              PartMark{0, 10, 1, 0xffffffff}, PartMark{0xffffffff, 10, 0, 10}}) {
    EXPECT_EQ(said_with({mark}).code, ErrorCode::Corrupt) << mark.slot << ' ' << mark.at;
  }
  EXPECT_THAT(said_with({{0, 20, 0, 10}, {0, 21, 10, 10}}).message,
              HasSubstr("another part reports another size"));
  EXPECT_THAT(said_with({{0, 20, 0, 15}, {0, 20, 0, 15}}).message, HasSubstr("which is full"));
}

TEST(SocketCounts, AreReadAsNcclReadsThem) {
  EXPECT_EQ(*socket_counts_from(environment_of({})), SocketCounts{});
  EXPECT_EQ(*socket_counts_from(environment_of({{"NCCL_NSOCKS_PERTHREAD", "4"}})),
            (SocketCounts{1, 4}));
  EXPECT_EQ(*socket_counts_from(
                environment_of({{"NCCL_SOCKET_NTHREADS", "2"}, {"NCCL_NSOCKS_PERTHREAD", "-2"}})),
            (SocketCounts{2, 1}));
  EXPECT_EQ(socket_counts_from(
                environment_of({{"NCCL_SOCKET_NTHREADS", "0"}, {"NCCL_NSOCKS_PERTHREAD", "4"}}))
                ->sockets(),
            1U);
  EXPECT_FALSE(socket_counts_from(environment_of({{"NCCL_SOCKET_NTHREADS", "17"}})));
  const auto too_many = socket_counts_from(
      environment_of({{"NCCL_SOCKET_NTHREADS", "16"}, {"NCCL_NSOCKS_PERTHREAD", "5"}}));
  ASSERT_FALSE(too_many);
  EXPECT_THAT(too_many.error().message,
              HasSubstr("makes 80 sockets a connection; there may be 64"));
}

TEST(SocketCounts, TheReceiversCountForLongSlots) {
  for (const char* text : {"1x1", "2x4", "16x4"})
    EXPECT_EQ(to_string(parse_socket_counts(text)), text);
  for (const char* text : {"", "x", "2x", "0x4", "2x4x", "17x1", "16x5", "-1x2", "99999999999x1"}) {
    EXPECT_EQ(parse_socket_counts(text), SocketCounts{}) << text;
  }
  EXPECT_EQ(socket_counts_of("2x4", {Protocol::Simple, kLong}).sockets(), 8U);
  EXPECT_EQ(socket_counts_of("2x4", {Protocol::Simple, 8_KiB}).sockets(), 1U);
  EXPECT_EQ(socket_counts_of("2x4", {Protocol::LL, kLong}).sockets(), 1U);
}

}  // namespace
}  // namespace ringside
