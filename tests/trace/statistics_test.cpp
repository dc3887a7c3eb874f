#include "trace/statistics.h"

#include <gtest/gtest.h>

#include "tests/trace/small_trace.h"

namespace ringside {
namespace {

TraceStatistics statistics(const std::vector<std::vector<TraceEvent>>& blocks) {
  FileBytes bytes = file_header();
  for (const std::vector<TraceEvent>& events : blocks) append_bytes(bytes, events_block(events));
  const Result<TraceFile> file = TraceFile::parse(bytes, "test.rtrace");
  EXPECT_TRUE(file);
  return statistics_of(*file);
}

TEST(TraceStatistics, CountsAndSpan) {
  const TraceStatistics all = statistics({late_all_reduce()});
  EXPECT_EQ(all.primitives, 6U);
  EXPECT_EQ(all.collective_calls, 2U);
  EXPECT_EQ(all.ranks, 2U);
  EXPECT_EQ(all.begin_ns, 0);
  EXPECT_EQ(all.span(), Nanoseconds{100'000});
  EXPECT_EQ(all.transfers, 4U);  // 2 ranks x (send, recv_reduce_copy_send)
  EXPECT_EQ(all.unmatched_halves, 0U);
}

// Rank 0 receives from 10 us on what rank 1 sends from 40 us on: 30 us of waiting. Then from 70 us on what
// rank 1 sends from 50 us on: none. Rank 1 finds both of its senders at work.
// Rank 0: 10 + 60 + 30 = 100 us busy, 2 x 500 B sent, so 1000 B / 100 us = 10 MB/s.
TEST(TraceStatistics, WaitingIsTheTimeBeforeTheSenderBegan) {
  const TraceStatistics all = statistics({late_all_reduce()});
  ASSERT_EQ(all.channels.size(), 2U);
  const ChannelStatistics& rank0 = all.channels[0];
  EXPECT_EQ(rank0.rank, Rank{0});
  EXPECT_EQ(rank0.channel, ChannelId{0});
  EXPECT_EQ(rank0.primitives, 3U);
  EXPECT_EQ(rank0.sent, 1000_B);
  EXPECT_EQ(rank0.busy, Nanoseconds{100'000});
  EXPECT_EQ(rank0.waiting, Nanoseconds{30'000});
  EXPECT_DOUBLE_EQ(rank0.achieved().value, 10e6);
  const ChannelStatistics& rank1 = all.channels[1];
  EXPECT_EQ(rank1.busy, Nanoseconds{50'000});
  EXPECT_EQ(rank1.waiting, Nanoseconds{0});
  EXPECT_DOUBLE_EQ(rank1.achieved().value, 20e6);
}

// A send of 8 B to ranks 1 and 2 is one primitive that sends 16 B.
TEST(TraceStatistics, APrimitiveOfTwoPeersIsOnePrimitive) {
  std::vector<TraceEvent> events(2);
  for (TraceEvent& event : events) {
    event.primitive = Primitive::Send;
    event.bytes = 8;
    event.end_ns = 5;
  }
  events[0].send_peer = 1;
  events[1].send_peer = 2;
  events[1].kind = EventKind::Peer;
  const TraceStatistics all = statistics({events});
  EXPECT_EQ(all.primitives, 1U);
  EXPECT_EQ(all.unmatched_halves, 2U);
  ASSERT_EQ(all.channels.size(), 1U);
  EXPECT_EQ(all.channels[0].primitives, 1U);
  EXPECT_EQ(all.channels[0].sent, 16_B);
  EXPECT_EQ(all.channels[0].busy, Nanoseconds{5});
}

// Two groups of warps share a channel: 0 .. 100 and 50 .. 150 us are 150 us, however many primitives there are.
TEST(TraceStatistics, TimeOfSeveralPrimitivesAtOnceIsBusyOnce) {
  std::vector<TraceEvent> events;
  const auto add = [&](std::int64_t begin_ns, std::int64_t end_ns) {
    TraceEvent event;
    event.begin_ns = begin_ns;
    event.end_ns = end_ns;
    events.push_back(event);
  };
  add(0, 100'000);
  add(50'000, 150'000);
  add(120'000, 130'000);
  ChannelStatistics channel = statistics({events}).channels.at(0);
  EXPECT_EQ(channel.busy, Nanoseconds{150'000});
  EXPECT_EQ(channel.in_primitives, Nanoseconds{210'000});
  // Out of order, with gaps, more ranges than are kept apart: each is 5 ns, and the whole is added again in the end.
  events.clear();
  for (std::int64_t i = 0; i < 1000; ++i) add((i ^ 1) * 10, (i ^ 1) * 10 + 5);
  EXPECT_EQ(statistics({events}).channels.at(0).busy, Nanoseconds{5000});
  add(0, 10'000);
  EXPECT_LE(statistics({events}).channels.at(0).busy, Nanoseconds{10'000});
}

TEST(TraceStatistics, WaitingNeverExceedsTheReceive) {
  std::vector<TraceEvent> events = late_all_reduce();
  events[4].begin_ns =
      500'000;  // rank 1's clock is ahead: its send begins after rank 0 received it
  events[4].end_ns = 510'000;
  EXPECT_EQ(statistics({events}).channels[0].waiting, Nanoseconds{60'000});  // all of 10 .. 70 us
}

// Two calls, of 100 and 50 us: mean 75 us.
TEST(TraceStatistics, CollectivesAreCountedOnceAndTheirCallsEach) {
  const TraceStatistics all = statistics({late_all_reduce()});
  ASSERT_EQ(all.collectives.size(), 1U);
  const CollectiveStatistics& collective = all.collectives[0];
  EXPECT_EQ(collective.collective, Collective::AllReduce);
  EXPECT_EQ(collective.count, 1U);
  EXPECT_EQ(collective.calls, 2U);
  EXPECT_EQ(collective.mean_bytes(), 1000_B);
  EXPECT_EQ(collective.mean_time(), Nanoseconds{75'000});
  EXPECT_EQ(collective.longest, Nanoseconds{100'000});
}

TEST(TraceStatistics, RanksOfTheTwoBlocksMeet) {
  const std::vector<TraceEvent> events = late_all_reduce();
  const TraceStatistics all =
      statistics({{events.begin() + 4, events.end()}, {events.begin(), events.begin() + 4}});
  EXPECT_EQ(all.transfers, 4U);
  EXPECT_EQ(all.channels[0].waiting, Nanoseconds{30'000});
}

TEST(TraceStatistics, CommunicatorsAreListedWithTheirRanks) {
  std::vector<TraceEvent> events = late_all_reduce();
  TraceEvent third = events[0];
  third.communicator = 9;
  third.rank = 5;
  third.send_peer = -1;
  events.push_back(third);
  const TraceStatistics all = statistics({events});
  ASSERT_EQ(all.communicators.size(), 2U);
  EXPECT_EQ(all.communicators[0].ranks, 2U);
  EXPECT_EQ(all.communicators[1].communicator, 9U);
  EXPECT_EQ(all.communicators[1].ranks, 1U);
  EXPECT_EQ(all.ranks, 2U);
}

TEST(TraceStatistics, AnEmptyFileHasNoneOfAll) {
  const TraceStatistics all = statistics({});
  EXPECT_EQ(all.span(), Nanoseconds{0});
  EXPECT_TRUE(all.channels.empty());
  EXPECT_EQ(ChannelStatistics{}.achieved().value, 0);
  EXPECT_EQ(CollectiveStatistics{}.mean_time(), Nanoseconds{0});
  EXPECT_EQ(CollectiveStatistics{}.mean_bytes(), 0_B);
}

TEST(TraceStatistics, AbsurdTimesDoNotOverflow) {
  TraceEvent event;
  event.begin_ns = -(std::int64_t{1} << 62);
  event.end_ns = (std::int64_t{1} << 62) - 1;
  const TraceStatistics all = statistics({{event, event, event}});
  EXPECT_EQ(all.channels.at(0).busy, Nanoseconds::max());
}

}  // namespace
}  // namespace ringside
