#include "engine/transport/faulty_end.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "engine/faults/fault_text.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

/// A fault on a connection of every medium, in every protocol.
class FaultyEnd : public testing::TestWithParam<TransportAndProtocol> {
 protected:
  void with_fault(const char* text) {
    ends_ = ranks_.connect(shape_);
    ends_.send = make_faulty_send_end(std::move(ends_.send), *parse_fault(text), real_clock());
  }

  /// returns  whether it was sent at once
  Result<bool> send(std::uint64_t word) {
    return ends_.send->send(std::as_bytes(std::span(&word, 1)));
  }

  /// Returns the message that arrives within `wait`, or nullopt.
  std::optional<std::uint64_t> take(Nanoseconds wait) {
    for (const Deadline deadline = deadline_in(wait); !has_passed(deadline);) {
      static_cast<void>(ends_.send->progress());
      const auto slot = ends_.recv->peek();
      if (!slot) return std::nullopt;
      if (slot->empty()) continue;
      std::uint64_t word = 0;
      std::memcpy(&word, slot->data(), sizeof word);
      EXPECT_TRUE(ends_.recv->release());
      return word;
    }
    return std::nullopt;
  }

  static constexpr Nanoseconds kLong = std::chrono::seconds(20);
  static constexpr Nanoseconds kMoment = std::chrono::milliseconds(20);
  const Transport& transport_ = *std::get<0>(GetParam());
  const ConnectionShape shape_{std::get<1>(GetParam()), kSlot};
  TwoRanks ranks_{transport_};
  Ends ends_;
};

TEST_P(FaultyEnd, DroppedMessagesAreLostAndOthersArrive) {
  with_fault("drop:step=1");
  for (const std::uint64_t word : {1U, 2U, 3U}) EXPECT_TRUE(*send(word));
  EXPECT_EQ(take(kLong), 1U);
  EXPECT_EQ(take(kLong), 3U);
}

TEST_P(FaultyEnd, AnAcquiredSlotIsAlsoLost) {
  with_fault("drop");
  for (const std::uint64_t word : {1U, 2U}) {
    const auto slot = ends_.send->acquire();
    ASSERT_TRUE(slot);
    ASSERT_GE(slot->size(), sizeof word);
    std::memcpy(slot->data(), &word, sizeof word);
    ASSERT_TRUE(ends_.send->post(Bytes{sizeof word}));
  }
  EXPECT_EQ(take(kLong), 2U);
}

// Sends more than eight slots: the sender into a black hole never runs out of them.
TEST_P(FaultyEnd, ABlackHoleAcceptsEverythingAndDeliversNothing) {
  with_fault("blackhole:after=8");
  for (std::uint64_t word = 1; word <= 40; ++word) EXPECT_TRUE(*send(word));
  EXPECT_EQ(take(kLong), 1U);
  EXPECT_EQ(take(kMoment), std::nullopt);
}

TEST_P(FaultyEnd, AStalledConnectionHasNoFreeSlotUntilItContinues) {
  with_fault("stall_link:by=20ms");
  const Clock::Time began = real_clock().now();
  EXPECT_FALSE(*send(1));
  EXPECT_TRUE(ends_.send->acquire()->empty());
  while (!*send(1)) real_clock().sleep(std::chrono::milliseconds(1));
  EXPECT_GE(real_clock().now() - began, std::chrono::milliseconds(20));
  EXPECT_EQ(take(kLong), 1U);
}

TEST_P(FaultyEnd, ACutConnectionFailsOnItsSenderFromThenOn) {
  with_fault("cut_link:step=1");
  EXPECT_TRUE(*send(1));
  const auto cut = send(2);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::PeerGone);
  EXPECT_FALSE(ends_.send->acquire());
  EXPECT_FALSE(ends_.send->check_peer());
  EXPECT_FALSE(ends_.send->progress());
  ends_.send->abort();
}

TEST_P(FaultyEnd, AnAbortReachesTheMediumBelow) {
  with_fault("drop:step=1000");
  ends_.send->abort();
  const auto sent = send(1);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::Aborted);
}

INSTANTIATE_TEST_SUITE_P(Table, FaultyEnd,
                         testing::Combine(testing::ValuesIn(joining_transports()),
                                          testing::Values(Protocol::LL, Protocol::LL128,
                                                          Protocol::Simple)),
                         [](const auto& test) { return name_of(test); });

}  // namespace
}  // namespace ringside
