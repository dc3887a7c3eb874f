#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>

#include "tests/replay/traces.h"
#include "trace/match.h"

/// The index returns the same answers as a pass over all events.
namespace ringside {
namespace {

LaneKey lane_of(const TraceEvent& event) {
  return {event.communicator, event.rank,
          event.kind == EventKind::Collective ? LaneKey::kCalls : event.channel};
}

std::vector<TimeRange> random_ranges(std::mt19937& random, const Shape& shape) {
  std::uniform_int_distribution<std::int64_t> any(-shape.span_ns, 2 * shape.span_ns);
  std::vector<TimeRange> ranges{{INT64_MIN, INT64_MAX}, {0, 0}, {5, 5}, {0, 1}};
  for (int i = 0; i < 40; ++i) {
    const std::int64_t a = any(random);
    const std::int64_t length = i % 2 == 0 ? 1 + a % 17 : any(random) - a;
    ranges.push_back({a, a + std::max<std::int64_t>(length, 0)});
  }
  return ranges;
}

/// Ordered by begin, then by number.
std::vector<EventId> scan(const std::vector<TraceEvent>& events, const LaneKey& lane,
                          TimeRange range) {
  std::vector<EventId> found;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TraceEvent& event = events[i];
    if (event.kind == EventKind::Peer || lane_of(event) != lane) continue;
    const bool is_point = event.begin_ns == event.end_ns;
    const bool is_seen = is_point
                             ? range.begin_ns <= event.begin_ns && event.begin_ns < range.end_ns
                             : event.begin_ns < range.end_ns && range.begin_ns < event.end_ns;
    if (is_seen && range.begin_ns <= range.end_ns)
      found.push_back(EventId{static_cast<std::uint32_t>(i)});
  }
  std::ranges::stable_sort(found, {}, [&](EventId id) { return events[to_int(id)].begin_ns; });
  return found;
}

struct Given {
  int seed;
  int count;
  Shape shape;
};

class RandomTrace : public testing::TestWithParam<Given> {
 protected:
  std::mt19937 random_{static_cast<std::uint32_t>(GetParam().seed)};
  std::vector<TraceEvent> events_ = random_events(random_, GetParam().count, GetParam().shape);
  Opened opened_ = opened(events_, 64);
  const Replay& replay_ = *opened_.replay;
};

TEST_P(RandomTrace, LanesAreThoseThatEventsName) {
  std::map<LaneKey, std::size_t> expected;
  for (const TraceEvent& event : events_) {
    expected[lane_of(event)] += event.kind == EventKind::Peer ? 0U : 1U;
  }
  ASSERT_EQ(replay_.lanes().size(), expected.size());
  std::size_t i = 0;
  for (const auto& [key, count] : expected) {
    const LaneId id{static_cast<std::uint32_t>(i)};
    EXPECT_EQ(replay_.lanes()[i], key);
    EXPECT_EQ(replay_.find(key), id);
    EXPECT_EQ(replay_.events(id).size(), count);
    const auto [first, last] = replay_.lanes_of(key.communicator, key.rank);
    EXPECT_TRUE(first <= i && i < last);
    for (std::size_t other = 0; other < replay_.lanes().size(); ++other) {
      const LaneKey& there = replay_.lanes()[other];
      const bool is_of_rank = there.communicator == key.communicator && there.rank == key.rank;
      EXPECT_EQ(first <= other && other < last, is_of_rank);
    }
    ++i;
  }
  EXPECT_FALSE(replay_.find({12345, 0, 0}));
}

TEST_P(RandomTrace, ARangeEqualsAFullScan) {
  std::vector<EventId> found;
  for (const TimeRange range : random_ranges(random_, GetParam().shape)) {
    for (std::uint32_t lane = 0; lane < replay_.lanes().size(); ++lane) {
      found.clear();
      replay_.overlapping(LaneId{lane}, range, found);
      ASSERT_EQ(found, scan(events_, replay_.lanes()[lane], range))
          << range.begin_ns << " to " << range.end_ns;
    }
  }
}

// Each visible event is in one fold; events at least as long as the resolution have folds of their own; a fold's
// longest event is correct, and so are its sums.
TEST_P(RandomTrace, FoldsContainEveryEvent) {
  std::vector<Fold> folds;
  for (const TimeRange range : random_ranges(random_, GetParam().shape)) {
    for (const std::int64_t resolution : {0, 1, 10, 100, 1000, 1'000'000}) {
      for (std::uint32_t lane = 0; lane < replay_.lanes().size(); ++lane) {
        folds.clear();
        replay_.fold(LaneId{lane}, range, Nanoseconds{resolution}, folds);
        const std::vector<EventId> seen = scan(events_, replay_.lanes()[lane], range);
        std::size_t next = 0;
        for (const Fold& fold : folds) {
          ASSERT_LE(next + fold.count, seen.size());
          Fold expected{.time = {INT64_MAX, INT64_MIN}};
          for (std::uint32_t i = 0; i < fold.count; ++i) {
            const TraceEvent& event = events_[to_int(seen[next++])];
            const Nanoseconds length{event.end_ns - event.begin_ns};
            expected.time.begin_ns = std::min(expected.time.begin_ns, event.begin_ns);
            expected.time.end_ns = std::max(expected.time.end_ns, event.end_ns);
            expected.busy += length;
            expected.longest_time = std::max(expected.longest_time, length);
            expected.primitives |= 1U << static_cast<unsigned>(event.primitive);
            EXPECT_TRUE(fold.count == 1 || length.count() < resolution);
          }
          EXPECT_EQ(fold.time.begin_ns, expected.time.begin_ns);
          EXPECT_EQ(fold.time.end_ns, expected.time.end_ns);
          EXPECT_EQ(fold.busy, expected.busy);
          EXPECT_EQ(fold.longest_time, expected.longest_time);
          EXPECT_EQ(fold.primitives, expected.primitives);
          const TraceEvent longest = replay_.event(fold.longest);
          EXPECT_EQ(longest.end_ns - longest.begin_ns, fold.longest_time.count());
        }
        ASSERT_EQ(next, seen.size());
      }
    }
  }
}

TEST_P(RandomTrace, SendsAndReceivesAreThoseThatTheMatcherJoins) {
  std::map<std::uint32_t, std::vector<EventId>> receivers;
  std::map<std::uint32_t, std::vector<EventId>> senders;
  std::map<LaneKey, std::uint32_t> last;
  TransferMatcher matcher([&](const TraceTransfer& transfer) {
    receivers[transfer.send.primitive].push_back(EventId{transfer.recv.primitive});
    senders[transfer.recv.primitive].push_back(EventId{transfer.send.primitive});
  });
  for (std::uint32_t i = 0; i < events_.size(); ++i) {
    const TraceEvent& event = events_[i];
    if (event.kind != EventKind::Peer) last[lane_of(event)] = i;
    const auto primitive = last.find(lane_of(event));
    matcher.add(event, {i, primitive == last.end() ? i : primitive->second});
  }
  std::size_t joined = 0;
  for (std::uint32_t lane = 0; lane < replay_.lanes().size(); ++lane) {
    for (const EventId id : replay_.events(LaneId{lane})) {
      std::vector<EventId> found;
      replay_.receivers_of(id, found);
      EXPECT_THAT(found, testing::UnorderedElementsAreArray(receivers[to_int(id)]));
      joined += found.size();
      found.clear();
      replay_.senders_of(id, found);
      EXPECT_THAT(found, testing::UnorderedElementsAreArray(senders[to_int(id)]));
    }
  }
  EXPECT_GT(joined, 0U);
}

TEST_P(RandomTrace, StatisticsAreThoseOfTheFile) {
  const TraceStatistics all = statistics_of(replay_.file());
  const TraceStatistics& ours = replay_.statistics();
  EXPECT_EQ(ours.primitives, all.primitives);
  EXPECT_EQ(ours.transfers, all.transfers);
  EXPECT_EQ(ours.unmatched_halves, all.unmatched_halves);
  EXPECT_EQ(ours.begin_ns, all.begin_ns);
  EXPECT_EQ(ours.end_ns, all.end_ns);
  ASSERT_EQ(ours.channels.size(), all.channels.size());
  for (const ChannelStatistics& channel : all.channels) {
    const auto lane =
        replay_.find({channel.communicator, to_int(channel.rank), to_int(channel.channel)});
    ASSERT_TRUE(lane);
    const ChannelStatistics* const found = replay_.statistics(*lane);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->busy, channel.busy);
    EXPECT_EQ(found->waiting, channel.waiting);
    EXPECT_EQ(found->sent.value, channel.sent.value);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Traces, RandomTrace,
    testing::Values(Given{1, 2000, {}}, Given{2, 3000, {.communicators = 1, .in_order = true}},
                    Given{3, 1500, {.communicators = 1, .ranks = 1, .channels = 1}},
                    Given{
                        4, 5000, {.communicators = 1, .ranks = 2, .channels = 1, .in_order = true}},
                    Given{5, 400, {.communicators = 3, .ranks = 5, .channels = 4, .span_ns = 20}},
                    Given{6, 700, {.span_ns = 1, .mostly_ns = 1}}));

}  // namespace
}  // namespace ringside
