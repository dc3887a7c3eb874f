#include "trace/replay/transfer_index.h"

#include <gtest/gtest.h>

#include "tests/replay/traces.h"

namespace ringside {
namespace {

constexpr TraceConnection kOneWay{.communicator = 3, .sender = 0, .receiver = 1, .channel = 2};

TraceTransfer transfer(std::uint32_t send, std::uint32_t receive,
                       const TraceConnection& connection = kOneWay, std::uint32_t number = 0) {
  TraceTransfer one;
  one.connection = connection;
  one.connection_number = number;
  one.send.event = send;
  one.recv.event = receive;
  return one;
}

// 1000 transfers, 4 events apart at the sender and 3 at the receiver: 2 connections of 24 bytes (one marks the end)
// and 1 run of 12.
TEST(TransferIndex, AnEvenPaceIsOneRun) {
  TransferIndex index;
  for (std::uint32_t i = 0; i < 1000; ++i) index.add(transfer(7 + 4 * i, 50'000 + 3 * i));
  index.finish();
  EXPECT_EQ(index.bytes(), 2U * 24 + 12);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(index.receive_of(kOneWay, EventId{7 + 4 * i}), EventId{50'000 + 3 * i});
    EXPECT_EQ(index.send_of(kOneWay, EventId{50'000 + 3 * i}), EventId{7 + 4 * i});
  }
}

TEST(TransferIndex, UnknownEventsHaveNoOtherEnd) {
  TransferIndex index;
  for (std::uint32_t i = 0; i < 10; ++i) index.add(transfer(100 + 4 * i, 500 + 3 * i));
  index.finish();
  for (const std::uint32_t id : {0U, 99U, 101U, 103U, 140U, 144U, UINT32_MAX - 1})
    EXPECT_EQ(index.receive_of(kOneWay, EventId{id}), kNoEvent) << id;
  TraceConnection other = kOneWay;
  other.channel = 3;
  EXPECT_EQ(index.receive_of(other, EventId{100}), kNoEvent);
  EXPECT_EQ(index.send_of(kOneWay, EventId{100}), kNoEvent);
}

// A run ends where a stride or its length exceeds the field.
TEST(TransferIndex, LongStridesAndLongRunsAreFoundAllTheSame) {
  TransferIndex index;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  std::uint32_t send = 0;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    send += i % 1500 == 0 ? 5000U : i < 2000 ? 1U : 2047U;
    all.emplace_back(send, 20'000'000 + 2 * i);
  }
  for (const auto& [from, to] : all) index.add(transfer(from, to));
  index.finish();
  for (const auto& [from, to] : all) {
    ASSERT_EQ(index.receive_of(kOneWay, EventId{from}), EventId{to});
    ASSERT_EQ(index.send_of(kOneWay, EventId{to}), EventId{from});
  }
}

TEST(TransferIndex, AnEmptyTraceHasNoTransfers) {
  TransferIndex index;
  index.finish();
  EXPECT_EQ(index.receive_of(kOneWay, EventId{0}), kNoEvent);
}

// The index of a ring of 64 ranks with 4 channels each. Each event takes 4 bytes for its place on its lane; 8 events
// take 32 bytes, and a third of that for the levels above.
TEST(ReplayMemory, ARingTakesLessThanTenBytesAnEvent) {
  constexpr std::uint32_t kRanks = 64;
  constexpr std::size_t kBlock = 4096;
  std::vector<TraceEvent> events;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    for (std::uint32_t i = 0; i < kBlock; ++i) {
      TraceEvent event;
      event.begin_ns = 1000 * i;
      event.end_ns = event.begin_ns + 700;
      event.rank = static_cast<std::int32_t>(rank);
      event.channel = static_cast<std::uint16_t>(i % 4);
      event.primitive = Primitive::RecvReduceSend;
      event.recv_peer = static_cast<std::int32_t>((rank + kRanks - 1) % kRanks);
      event.send_peer = static_cast<std::int32_t>((rank + 1) % kRanks);
      events.push_back(event);
    }
  }
  const Opened one = opened(events, kBlock);
  EXPECT_EQ(one.replay->statistics().transfers, events.size());
  EXPECT_LT(static_cast<double>(one.replay->index_bytes()) / static_cast<double>(events.size()),
            10);
}

}  // namespace
}  // namespace ringside
