#include "sim/link_loads.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/sim/compare.h"
#include "tests/sim/requests.h"
#include "trace/sink.h"

namespace ringside {
namespace {

double sum_of(const LinkLoad& load) {
  return std::accumulate(load.over_time.begin(), load.over_time.end(), 0.0);
}

// A line of 8 bytes from 1 ns to 5 ns: 2 in each of four nanoseconds.
TEST(LineTimes, AMessageIsSpreadEvenlyOverTheTimeThatItTakes) {
  LineTimes times(1);
  times.add(0, 8, 1e-9, 5e-9);
  const auto spans = times.of(0);
  ASSERT_GE(spans.size(), 6U);
  EXPECT_FLOAT_EQ(spans[0], 0);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_FLOAT_EQ(spans[i], 2) << i;
  EXPECT_NEAR(spans[5], 0, 1e-5);
}

TEST(LineTimes, CountsInstantMessagesAtTheirTime) {
  LineTimes times(1);
  times.add(0, 8, 3.5e-9, 3.5e-9);
  EXPECT_FLOAT_EQ(times.of(0)[3], 8);
}

// For any values in any order, no bytes are lost, and those of each half of the time stay in that half.
TEST(LineTimes, LongerTimesMakeLongerSpansAndLoseNoBytes) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> at(0, 1e-3);
  LineTimes times(3);
  double all = 0;
  double early = 0;  // before 0.5 ms
  for (int i = 0; i < 2000; ++i) {
    const double begin = at(random) * (i + 1) / 2000;
    const double end = begin + at(random) / 100;
    const double bytes = 1 + i % 7;
    times.add(static_cast<std::size_t>(i % 3), bytes, begin, end);
    all += bytes;
    if (end <= 0.5e-3) early += bytes;
    if (begin < 0.5e-3 && end > 0.5e-3) early += bytes * (0.5e-3 - begin) / (end - begin);
  }
  double seen = 0;
  double seen_early = 0;
  for (std::size_t line = 0; line < 3; ++line) {
    const auto spans = times.of(line);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      seen += static_cast<double>(spans[i]);
      if (static_cast<double>(i + 1) * times.span().count() <= 0.5e-3) {
        seen_early += static_cast<double>(spans[i]);
      }
    }
  }
  EXPECT_NEAR(seen, all, 1e-4 * all);
  // One span may cover both halves.
  EXPECT_NEAR(seen_early, early, 0.03 * all);
  EXPECT_GE(times.span() * static_cast<double>(LineTimes::kMostSpans), Seconds{1e-3});
}

void expect_loads(const SimRequest& request, const SimResult& result, const char* what) {
  ASSERT_FALSE(result.loads.links.empty()) << what;
  double busiest = 0;
  for (const LinkLoad& one : result.loads.links) {
    const double rate = request.network->rate(one.link).value;
    EXPECT_NEAR(sum_of(one), one.bytes, 1e-4 * one.bytes) << what << " " << one.link;
    // No link carries more than its capacity. A message is spread evenly although its share changes, so single spans
    // may exceed it.
    constexpr std::size_t kAround = 8;
    for (std::size_t i = 0; i + kAround <= one.over_time.size(); ++i) {
      const auto first = one.over_time.begin() + static_cast<std::ptrdiff_t>(i);
      const double bytes = std::accumulate(first, first + kAround, 0.0);
      EXPECT_LE(bytes, 1.2 * rate * result.loads.span.count() * kAround) << what << " " << one.link;
    }
    busiest = std::max(busiest, one.bytes / rate);
  }
  EXPECT_NEAR(busiest, result.busiest.count(), 1e-9 * busiest) << what;
}

// The simulation that folds equal ranks, the one that keeps each line, and SimGrid's report the same for each link.
TEST(LinkLoads, AreTheSameHoweverTheyAreSimulated) {
  for (const Algorithm algorithm : {Algorithm::Ring, Algorithm::Tree, Algorithm::NvlsTree}) {
    const char* const what = to_string(algorithm);
    auto one =
        forced_case("dgx-h100", 2, Collective::AllReduce, 64_MiB, algorithm, Protocol::Simple);
    ASSERT_TRUE(one) << one.error().message;
    one->request.wants_loads = true;
    const auto folded = by("event", one->request);
    const auto chunk = by("chunk", one->request);
    TraceMemorySink sink;
    one->request.trace = &sink;
    const auto unfolded = by("event", one->request);
    ASSERT_TRUE(folded && chunk && unfolded) << what;
    expect_loads(one->request, *folded, what);
    expect_loads(one->request, *chunk, what);
    expect_loads(one->request, *unfolded, what);
    ASSERT_EQ(folded->loads.links.size(), unfolded->loads.links.size()) << what;
    ASSERT_EQ(chunk->loads.links.size(), unfolded->loads.links.size()) << what;
    for (std::size_t i = 0; i < unfolded->loads.links.size(); ++i) {
      const LinkLoad& all = unfolded->loads.links[i];
      EXPECT_EQ(folded->loads.links[i].link, all.link) << what;
      EXPECT_NEAR(folded->loads.links[i].bytes, all.bytes, 2e-3 * all.bytes) << what;
      EXPECT_NEAR(chunk->loads.links[i].bytes, all.bytes, 2e-3 * all.bytes) << what;
    }
  }
}

// Each link has an entry: links that carry the same need not be of one kind.
TEST(LinkLoads, SumsTheFlowsOfEachLink) {
  auto one =
      forced_case("dgx-h100", 2, Collective::AllReduce, 64_MiB, Algorithm::Ring, Protocol::Simple);
  ASSERT_TRUE(one) << one.error().message;
  one->request.wants_loads = true;
  const auto flow = by("flow", one->request);
  const auto event = by("event", one->request);
  ASSERT_TRUE(flow && event);
  ASSERT_EQ(flow->loads.links.size(), event->loads.links.size());
  for (std::size_t i = 0; i < event->loads.links.size(); ++i) {
    const LinkLoad& load = flow->loads.links[i];
    EXPECT_TRUE(load.over_time.empty());
    EXPECT_EQ(load.link, event->loads.links[i].link);
    EXPECT_NEAR(load.bytes, event->loads.links[i].bytes, 2e-3 * load.bytes);
  }
}

TEST(LinkLoads, AreNotCollectedUnlessRequested) {
  const Case one = ideal_case(4, Collective::AllReduce, 64'000);
  const auto result = by("event", one.request);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->loads.links.empty());
}

}  // namespace
}  // namespace ringside
