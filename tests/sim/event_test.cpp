#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ringside/trace_reader.h"
#include "tests/sim/compare.h"
#include "tests/sim/requests.h"
#include "trace/sink.h"

// Compares two engines, which share only the code of the algorithms, with each other and with arithmetic.

namespace ringside {
namespace {

using testing::HasSubstr;

TEST(Event, EveryCollectiveByEveryAlgorithmTakesTheTimeOfChunks) {
  int runs = 0;
  for (int c = 0; c <= static_cast<int>(Collective::AllGatherV); ++c) {
    for (int a = 0; a < kAlgorithmCount; ++a) {
      const auto collective = static_cast<Collective>(c);
      const auto algorithm = static_cast<Algorithm>(a);
      if (!has_algorithm(collective, algorithm)) continue;
      if (is_point_to_point(collective) && algorithm != Algorithm::Ring) continue;
      for (const auto& [ranks, ranks_per_node] :
           {std::pair{1, 0}, std::pair{6, 3}, std::pair{12, 4}}) {
        Case one = ideal_case(ranks, collective, 300'000, ranks_per_node);
        one.request.choice.algorithm = algorithm;
        one.request.choice.slots_per_chunk = 1;
        one.request.choice.chunk = 512_KiB;
        if (collective == Collective::AllGatherV) {
          one.request.call.counts.assign(static_cast<std::size_t>(ranks), 200'000);
          one.request.call.counts[0] = 7;
        }
        one.request.channels = host_channels(ranks, 2, ranks_per_node);
        one.request.choice.nchannels = 2;
        if (!plan_channels(one.request.choice, one.request.channels, one.request.call, Rank{0})) {
          continue;  // not on these nodes
        }
        expect_alike(one.request, fmt::format("{} by {} on {}", to_string(collective),
                                              to_string(algorithm), ranks));
        ++runs;
      }
    }
  }
  EXPECT_GT(runs, 40);
}

// 2(n-1) steps of S/n bytes each.
TEST(Event, AnAllReduceOfOneLoopTakesTwiceNLessOneSteps) {
  for (const int n : {2, 3, 8, 33}) {
    const Case one = ideal_case(n, Collective::AllReduce, 1000 * n);
    const double expected = 2 * (n - 1) * (kAlpha.count() + 4000 / kRate.value);
    const auto result = by("event", one.request);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_NEAR(result->time.count(), expected, expected * 1e-9);
  }
}

// Half of the rate takes twice as long, here and with SimGrid.
TEST(Event, AMessageGetsTheShareOfItsLink) {
  Case one = ideal_case(8, Collective::AllReduce, 8000);
  one.request.costs.share = {0.5, 0.5, 0.5};
  const double expected = 2 * 7 * (kAlpha.count() + 2 * 4000 / kRate.value);
  const auto result = by("event", one.request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_NEAR(result->time.count(), expected, expected * 1e-9);
  expect_alike(one.request, "half of the rate");
}

/// Returns what a trace records of each step of each rank and channel, without times, and when it ended.
std::map<std::tuple<int, int, std::uint32_t>, std::pair<std::string, double>> steps_by(
    const char* fidelity, SimRequest request) {
  TraceMemorySink sink;
  request.trace = &sink;
  const auto result = by(fidelity, request);
  EXPECT_TRUE(result) << result.error().message;
  const std::vector<std::byte> bytes = sink.bytes();
  const auto file = TraceFile::parse(bytes, "memory");
  EXPECT_TRUE(file) << file.error().message;
  std::map<std::tuple<int, int, std::uint32_t>, std::pair<std::string, double>> steps;
  file->for_each_event([&](const TraceEvent& event) {
    if (event.kind == EventKind::Peer) return;
    const bool is_call = event.kind == EventKind::Collective;
    const auto key =
        std::tuple{event.rank, is_call ? -1 : static_cast<int>(event.channel), event.step};
    const bool is_new =
        steps
            .try_emplace(key,
                         fmt::format("{} {} {} {} {}", static_cast<int>(event.primitive),
                                     event.offset, event.bytes, event.recv_peer, event.send_peer),
                         static_cast<double>(event.end_ns))
            .second;
    EXPECT_TRUE(is_new) << "step " << event.step << " twice";
  });
  return steps;
}

TEST(EventTrace, ShowsTheStepsOfChunks) {
  for (const int nodes : {1, 2}) {
    for (const Algorithm algorithm : {Algorithm::Ring, Algorithm::Tree}) {
      const auto one = forced_case("dgx-h100", nodes, Collective::AllReduce, Bytes{16 * 70'001 * 4},
                                   algorithm, Protocol::Simple);
      ASSERT_TRUE(one) << one.error().message;
      const auto chunk = steps_by("chunk", one->request);
      const auto event = steps_by("event", one->request);
      ASSERT_EQ(chunk.size(), event.size());
      ASSERT_GT(event.size(), 100U);
      if (algorithm != Algorithm::Ring)
        continue;  // two strands: their steps can interleave in two ways
      for (const auto& [key, step] : chunk) {
        const auto found = event.find(key);
        ASSERT_NE(found, event.end());
        EXPECT_EQ(found->second.first, step.first);
        EXPECT_NEAR(found->second.second, step.second, 0.01 * step.second);
      }
    }
  }
}

// A chunk of a ring is then two steps, each with one half of it.
TEST(EventTrace, ShowsSlicesWhereAsked) {
  auto one =
      forced_case("dgx-h100", 2, Collective::AllReduce, 16_MiB, Algorithm::Ring, Protocol::Simple);
  ASSERT_TRUE(one) << one.error().message;
  const auto whole = steps_by("event", one->request);
  one->request.traces_slices = true;
  const auto event = steps_by("event", one->request);
  const auto chunk = steps_by("chunk", one->request);
  const std::size_t calls = 16;
  ASSERT_GT(whole.size(), calls);
  EXPECT_EQ(event.size() - calls, 2 * (whole.size() - calls));
  ASSERT_EQ(chunk.size(), event.size());
  for (const auto& [key, step] : chunk) {
    const auto found = event.find(key);
    ASSERT_NE(found, event.end());
    EXPECT_EQ(found->second.first, step.first);
    EXPECT_NEAR(found->second.second, step.second, 0.01 * step.second);
  }
}

TEST(EventTrace, AFailingSinkEndsTheSimulation) {
  struct Full : TraceSink {
    Status write(std::span<const std::byte>) override {
      return Error{ErrorCode::System, "t.rtrace: no room", "make some"};
    }
  };
  Full full;
  Case one = ideal_case(2, Collective::AllReduce, 1000);
  one.request.trace = &full;
  const auto result = by("event", one.request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "t.rtrace: no room");
}

TEST(Event, TheSameRequestGivesTheSameTimeToTheLastDigit) {
  const auto one = forced_case("dgx-h100", 2, Collective::AllReduce, Bytes{12'000'004},
                               Algorithm::NvlsTree, Protocol::Simple);
  ASSERT_TRUE(one) << one.error().message;
  const auto first = by("event", one->request);
  const auto again = by("event", one->request);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->time, again->time);
}

TEST(Event, ReportsItsProgress) {
  Case one = ideal_case(8, Collective::AllReduce, 100'000'000);
  std::vector<double> shares;
  one.request.progress = [&](double share) { shares.push_back(share); };
  ASSERT_TRUE(by("event", one.request));
  ASSERT_GT(shares.size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_LE(shares.back(), 1.0);
}

TEST(Event, OneChunkInFlightIsADeadlockThatNamesTheWaitingRanks) {
  Case one = ideal_case(4, Collective::AllReduce, 4000);
  one.request.choice.protocol = Protocol::LL;  // whose chunks are not divided
  one.request.choice.slots_per_chunk = 8;
  const auto result = by("event", one.request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, by("chunk", one.request).error().message);
  EXPECT_THAT(result.error().message,
              HasSubstr("rank 0 channel 0 step 1 waits for a free slot to rank 1"));
}

TEST(Event, RefusesWhatChunkRefuses) {
  Case one = ideal_case(4, Collective::AllReduce, 4000);
  one.request.choice.slots_per_chunk = 9;
  EXPECT_EQ(by("event", one.request).error().message, by("chunk", one.request).error().message);
  one.request.choice.slots_per_chunk = 4;
  one.request.channels = host_channels(5, 1);
  EXPECT_EQ(by("event", one.request).error().message, by("chunk", one.request).error().message);
}

TEST(Fidelity, AnUnknownNameNamesTheNearest) {
  const auto unknown = parse_fidelity("evnt");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "unknown fidelity 'evnt'");
  EXPECT_THAT(unknown.error().help, HasSubstr("event"));
}

}  // namespace
}  // namespace ringside
