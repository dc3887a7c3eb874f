#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "sim/event/event_engine.h"
#include "sim/flow/alike_job.h"
#include "sim/flow/by_kinds.h"
#include "sim/flow/long_runs.h"
#include "sim/flow/steady.h"
#include "tests/sim/compare.h"
#include "tests/sim/requests.h"

namespace ringside {
namespace {

std::vector<ChannelFlow> channels_of_case(const Case& one, FlowShapes& shapes) {
  const auto planner =
      TaskPlanner::make(one.request.choice, one.request.channels, one.request.call);
  EXPECT_TRUE(planner);
  std::vector<ChannelFlow> channels;
  for (int i = 0; i < one.request.choice.nchannels; ++i) {
    auto channel = shapes.channel(one.request, *planner, i);
    EXPECT_TRUE(channel) << channel.error().message;
    channels.push_back(*std::move(channel));
  }
  return channels;
}

std::optional<EventJob> joined(const Case& one) {
  FlowShapes shapes;
  return join_alike(channels_of_case(one, shapes),
                    [&](int link) { return one.request.network->rate(link).value; });
}

// Pipes take 7 ms to fill, nine tenths of it in the first 115 loops; then 3 ms per loop; a quarter of the last one
// remains.
TEST(UntilSteady, ExtrapolatesAtTheSteadyPace) {
  std::vector<std::int64_t> tried;
  const auto time =
      until_steady({.all = 1'000'000, .work = 999'999.25, .first = 16, .most = 100'000},
                   [&](std::int64_t some) -> Result<Seconds> {
                     tried.push_back(some);
                     const double filled = 1 - std::exp(-static_cast<double>(some) / 50);
                     return Seconds{7e-3 * filled + 3e-3 * static_cast<double>(some)};
                   });
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->count(), 7e-3 + 3e-3 * 999'999.25, 1e-3 * 3000);
  EXPECT_GE(tried.back(), 256);
  EXPECT_LE(tried.back(), 2048);
}

TEST(UntilSteady, TriesAllWhereThatIsLittle) {
  int tries = 0;
  const auto run = [&](std::int64_t some) -> Result<Seconds> {
    ++tries;
    return Seconds{static_cast<double>(some * some)};
  };
  EXPECT_DOUBLE_EQ(until_steady({.all = 60, .work = 60, .first = 16, .most = 60}, run)->count(),
                   3600);
  EXPECT_EQ(tries, 1);
  EXPECT_DOUBLE_EQ(until_steady({.all = 12, .work = 12, .first = 16, .most = 4}, run)->count(),
                   144);
  EXPECT_EQ(tries, 2);
}

TEST(UntilSteady, AnErrorEndsIt) {
  const auto time = until_steady({.all = 100, .work = 100, .first = 1, .most = 10},
                                 [](std::int64_t some) -> Result<Seconds> {
                                   if (some < 4) return Seconds{1};
                                   return Error{ErrorCode::Timeout, "stuck"};
                                 });
  ASSERT_FALSE(time);
  EXPECT_EQ(time.error().message, "stuck");
}

// Found channel by channel, the result is that of folding the whole job: the same time to 9 digits.
TEST(JoinAlike, TakesAsLongAsTheWholeJob) {
  for (const auto& [on, nodes, algorithm] :
       {std::tuple{"dgx-h100", 4, Algorithm::Ring}, std::tuple{"dgx-h100", 1, Algorithm::Ring},
        std::tuple{"dgx-h100", 1, Algorithm::Nvls}, std::tuple{"dgx-a100", 3, Algorithm::Ring},
        std::tuple{"2x-l4", 2, Algorithm::Ring}}) {
    const auto one =
        forced_case(on, nodes, Collective::AllReduce, 1_GiB, algorithm, Protocol::Simple);
    ASSERT_TRUE(one) << one.error().message;
    const auto job = joined(*one);
    const std::string what = std::string(on) + " x " + std::to_string(nodes);
    ASSERT_TRUE(job) << what;
    const auto time = run_shared(one->request, *job, std::numeric_limits<std::int64_t>::max());
    ASSERT_TRUE(time) << time.error().message;
    const auto event = by("event", one->request);
    ASSERT_TRUE(event);
    const Seconds all = one->request.overheads.total(*time, event->busiest);
    EXPECT_NEAR(all / event->time, 1, 2e-3) << what;
    EXPECT_LT(job->tasks.size(), 200U) << what;
  }
}

/// Ranks 0 and 1 have links at half the rate.
struct TwoSlowRanks : IdealNetwork {
  [[nodiscard]] SimLink link(int id) const override {
    return {.rate = BytesPerSecond{id < 4 ? kRate.value / 2 : kRate.value}, .name = "link"};
  }
};

TEST(JoinAlike, DistinguishesLinesOverOtherLinks) {
  Case one = ideal_case(8, Collective::AllReduce, 1 << 22);
  const auto even = joined(one);
  ASSERT_TRUE(even);
  EXPECT_EQ(even->tasks.size(), 1U);
  TwoSlowRanks network;
  network.ranks = 8;
  one.request.network = &network;
  // The lines differ in their rates, and therefore all ranks of the ring differ.
  const auto apart = joined(one);
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->tasks.size(), 8U);
}

/// Rank 0 and rank 3 send over the same link.
struct SharedWayOut : IdealNetwork {
  [[nodiscard]] SimRoute route(Rank from, Rank to, int channel) const override {
    SimRoute route = IdealNetwork::route(from, to, channel);
    if (to_int(from) == 3) route.links[0] = 0;
    return route;
  }
};

// The lines of a ring are equal by themselves, but two of them share a link: lines in step need not be equal.
TEST(JoinAlike, GivesUpWhereLinesOfAKindLieOverLinksOfSeveral) {
  Case one = ideal_case(8, Collective::AllReduce, 1 << 22);
  SharedWayOut network;
  network.ranks = 8;
  one.request.network = &network;
  EXPECT_FALSE(joined(one));
  // The whole job is small: its fold distinguishes them.
  const auto event = by("event", one.request);
  const auto flow = by("flow", one.request);
  ASSERT_TRUE(event && flow);
  EXPECT_NEAR(flow->time / event->time, 1, 1e-3);
}

// 2 (n - 1) steps: two runs of n - 2 steps, in which each step takes as long as the one before.
TEST(LongRuns, ARingOfManyRanksIsShort) {
  const Case one = ideal_case(2050, Collective::AllReduce, 2050 * 1024);
  const auto job = joined(one);
  ASSERT_TRUE(job);
  const auto runs = LongRuns::find(*job);
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->length(), 2048);
  const EventJob shorter = runs->shortened(*job, 100);
  std::int64_t steps = 0;
  for (const StepRun& run : shorter.tasks.front().program().steps) steps += run.repeat;
  EXPECT_EQ(steps, 3 + 2 * 100);
  EXPECT_EQ(count_steps(job->tasks.front().program()), 3 + 2 * 2048);
}

TEST(LongRuns, AShortOneHasNone) {
  const auto job = joined(ideal_case(64, Collective::AllReduce, 1 << 20));
  ASSERT_TRUE(job);
  EXPECT_FALSE(LongRuns::find(*job));
}

TEST(ByKinds, LongRingsTakeTheTimeOfEvents) {
  for (const Collective collective :
       {Collective::AllReduce, Collective::AllGather, Collective::Broadcast}) {
    Case one = ideal_case(1536, collective, std::int64_t{1536} * 8192, 8);
    const auto event = by("event", one.request);
    const auto flow = by("flow", one.request);
    ASSERT_TRUE(event && flow);
    EXPECT_NEAR(flow->time / event->time, 1, 2e-3) << to_string(collective);
  }
}

}  // namespace
}  // namespace ringside
