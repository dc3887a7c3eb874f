#include "trace/clock_map.h"

#include <gtest/gtest.h>

#include "trace/clock.h"

namespace ringside {
namespace {

std::int64_t mapped(const ClockMap& map, std::int64_t time) {
  return map.segment_at(time).to_monotonic(time);
}

TEST(ClockMap, WithoutReadingsATimeIsUnchanged) { EXPECT_EQ(mapped(ClockMap{}, 12345), 12345); }

// From (1000, 5000) to (103400, 107500): 102,400 ns of the trace clock are 102,500, slope 1 + 1/1024.
TEST(ClockMap, BetweenReadingsItFollowsTheLine) {
  ClockMap map;
  map.add({1'000, 5'000});
  map.add({103'400, 107'500});
  EXPECT_EQ(mapped(map, 1'000), 5'000);
  EXPECT_EQ(mapped(map, 1'000 + 51'200), 5'000 + 51'250);
  EXPECT_EQ(mapped(map, 1'000 + 102'399), 5'000 + 102'498);  // 99.999 ahead, rounded down to 99
  EXPECT_EQ(mapped(map, 103'400), 107'500);
}

TEST(ClockMap, ContinuesOutsideWithSlopeOne) {
  ClockMap map;
  map.add({1'000, 5'000});
  map.add({101'000, 105'100});
  EXPECT_EQ(mapped(map, 400), 4'400);
  EXPECT_EQ(mapped(map, 102'000), 106'100);
}

TEST(ClockMap, ALaterReadingLeavesEarlierTimesWhereTheyWere) {
  ClockMap map;
  map.add({0, 0});
  map.add({10'000, 10'010});
  const std::int64_t before = mapped(map, 7'000);
  map.add({20'000, 20'500});
  EXPECT_EQ(mapped(map, 7'000), before);
}

TEST(ClockMap, ReadingsTooCloseOrBackwardsAreNotKept) {
  ClockMap map;
  map.add({0, 0});
  map.add({999, 999});
  map.add({5'000, -1});
  EXPECT_EQ(map.size(), 1U);
}

TEST(ClockMap, SegmentsHaveTheirRange) {
  ClockMap map;
  map.add({0, 0});
  map.add({10'000, 10'010});
  const ClockSegment segment = map.segment_at(5'000);
  EXPECT_TRUE(segment.holds(0));
  EXPECT_TRUE(segment.holds(9'999));
  EXPECT_FALSE(segment.holds(10'000));
  EXPECT_FALSE(segment.holds(-1));
}

// 10,000 flushes of 1 ms, each 2 ppm off from the last: the memory is bounded, and times stay in order.
TEST(ClockMap, StaysSmallAndMonotonicOverManyReadings) {
  ClockMap map;
  std::int64_t monotonic = 0;
  for (std::int64_t i = 0; i < 10'000; ++i) {
    monotonic += 1'000'000 + (i % 7) * 2;
    map.add({i * 1'000'000, monotonic});
    EXPECT_LE(map.size(), ClockMap::kMostReadings);
  }
  std::int64_t last = mapped(map, -1);
  for (std::int64_t time = 0; time < 10'001'000'000; time += 333'333) {
    const std::int64_t now = mapped(map, time);
    ASSERT_GE(now, last) << time;
    last = now;
  }
}

TEST(TraceNow, NeverGoesBackOnOneThread) {
  Nanoseconds last = trace_now();
  for (int i = 0; i < 100'000; ++i) {
    const Nanoseconds now = trace_now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(TraceNow, FollowsClockMonotonic) {
  const Nanoseconds before = monotonic_now();
  const Nanoseconds now = trace_now();
  const Nanoseconds after = monotonic_now();
  const Nanoseconds drift = (after - before) + std::chrono::milliseconds{100};  // 100 ppm of 1000 s
  EXPECT_GT(now, before - drift);
  EXPECT_LT(now, after + drift);
}

}  // namespace
}  // namespace ringside
