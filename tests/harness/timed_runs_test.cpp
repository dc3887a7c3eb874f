#include "harness/timed_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

TEST(TimedRuns, WarmUpComesBeforeTheRanksAreBroughtTogetherAndIsNotTimed) {
  std::string done;
  const auto times = time_runs(
      {.warmup = 2, .iterations = 3}, [&]() -> Status { return done += "r", Status(); },
      [&]() -> Status { return done += "|", Status(); });
  ASSERT_TRUE(times);
  EXPECT_EQ(times->size(), 3U);
  EXPECT_EQ(done, "rr|rrr");
}

TEST(TimedRuns, TheFirstErrorEndsThem) {
  int runs = 0;
  const auto times = time_runs(
      {.warmup = 1, .iterations = 3},
      [&]() -> Status {
        if (++runs < 3) return {};
        return Error{ErrorCode::PeerGone, "gone"};
      },
      [] { return Status(); });
  ASSERT_FALSE(times);
  EXPECT_EQ(times.error().message, "gone");
  EXPECT_EQ(runs, 3);
}

TEST(TimedRuns, AQuantileIsOneOfTheTimes) {
  const std::vector<Seconds> times{Seconds{5}, Seconds{1}, Seconds{3}, Seconds{2}, Seconds{4}};
  EXPECT_EQ(quantile_of(times, 0), Seconds{1});
  EXPECT_EQ(quantile_of(times, 0.5), Seconds{3});
  EXPECT_EQ(quantile_of(times, 0.95), Seconds{4});
  EXPECT_EQ(quantile_of(times, 1), Seconds{5});
}

}  // namespace
}  // namespace ringside
