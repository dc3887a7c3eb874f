#include <gtest/gtest.h>

#include <algorithm>

#include "engine/collectives/record.h"
#include "tests/sim/requests.h"

namespace ringside {
namespace {

double seconds(const SimRequest& request) {
  const auto result = simulate(request);
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->time.count() : -1;
}

Case case_of(Collective collective, Algorithm algorithm, int ranks, int ranks_per_node,
             std::int64_t count) {
  Case one = ideal_case(ranks, collective, count, ranks_per_node);
  one.request.choice.algorithm = algorithm;
  one.request.choice.slots_per_chunk = 1;
  one.request.choice.slot = 512_KiB;
  one.request.choice.chunk = 512_KiB;
  return one;
}

/// A number of bytes so small that only latencies count: 4 B at 50 GB/s take 0.08 ns.
constexpr double kOnlyLatency = 1e-3;

// Up and down: 2 x depth steps, the deepest rank's.
TEST(SimAlgorithms, ATreeTakesTwiceItsDepthInSteps) {
  for (const int n : {2, 3, 8, 33}) {
    const Case one = case_of(Collective::AllReduce, Algorithm::Tree, n, 0, 1);
    const auto& tree = one.request.channels.trees[0];
    int depth = 0;
    for (int rank = 0; rank < n; ++rank) {
      int hops = 0;
      for (Rank at = tree[static_cast<std::size_t>(rank)].parent; at != kNoRank;
           at = tree[static_cast<std::size_t>(to_int(at))].parent) {
        ++hops;
      }
      depth = std::max(depth, hops);
    }
    const double expected = 2 * depth * kAlpha.count();
    EXPECT_NEAR(seconds(one.request), expected, expected * kOnlyLatency) << n;
  }
}

// Two ranks: up, then down. Each of C chunks follows the one before by one transfer; the last one makes 2 steps.
TEST(SimAlgorithms, ATreePipelinesItsChunks) {
  constexpr int kChunks = 20;
  const Case one = case_of(Collective::AllReduce, Algorithm::Tree, 2, 0, kChunks * (1 << 17));
  const double transfer = 524'288 / kRate.value;
  const double expected = 2 * (kAlpha.count() + transfer) + (kChunks - 1) * transfer;
  EXPECT_NEAR(seconds(one.request), expected, expected * 1e-6);
}

// n heads. Each GPU's link out carries its part of all n slices, S in all, then the switch's answer comes
// in by S once more: 2 (alpha + S / B).
TEST(SimAlgorithms, NvlsReadsAndWritesTheWholeBufferOverEachLink) {
  for (const int n : {2, 8}) {
    const std::int64_t floats = n * 98'304;  // 24 x 16 KiB a slice
    const Case one = case_of(Collective::AllReduce, Algorithm::Nvls, n, 0, floats);
    const double whole = 4.0 * static_cast<double>(floats) / kRate.value;
    const double expected = 2 * (kAlpha.count() + whole);
    EXPECT_NEAR(seconds(one.request), expected, expected * 1e-6) << n;
  }
}

// A switch that uses 80 % of its links' rate takes 5/4 of the time.
TEST(SimAlgorithms, TheSwitchsEfficiencySlowsItsMessages) {
  Case one = case_of(Collective::AllReduce, Algorithm::Nvls, 4, 0, 4 * 98'304);
  one.request.costs.nvswitch_efficiency = 0.8;
  const double whole = 16 * 98'304 / kRate.value;
  const double expected = 2 * (kAlpha.count() + whole / 0.8);
  EXPECT_NEAR(seconds(one.request), expected, expected * 1e-6);
}

// Chains of 3 on a node: 2 hops up, once through the network, 2 down. The other node's chain has 3 ranks
// or 1: the network waits for the longest.
TEST(SimAlgorithms, TheCollNetChainGoesUpThroughTheNetworkAndDown) {
  for (const int ranks : {6, 4}) {
    Case one = case_of(Collective::AllReduce, Algorithm::CollNetChain, ranks, 3, 1);
    one.request.costs.network_reduction = Seconds{30e-6};
    const double expected = 4 * kAlpha.count() + 30e-6;
    EXPECT_NEAR(seconds(one.request), expected, expected * kOnlyLatency) << ranks;
  }
}

// The steps are to the head, through the network, and back.
TEST(SimAlgorithms, CollNetDirectTakesTwoStepsInAdditionToTheNetworks) {
  Case one = case_of(Collective::AllReduce, Algorithm::CollNetDirect, 8, 4, 4);
  one.request.costs.network_reduction = Seconds{30e-6};
  const double expected = 2 * kAlpha.count() + 30e-6;
  EXPECT_NEAR(seconds(one.request), expected, expected * kOnlyLatency);
}

// log2(n) rounds.
TEST(SimAlgorithms, PatTakesLogarithmicallyManySteps) {
  for (const Collective collective : {Collective::AllGather, Collective::ReduceScatter}) {
    for (const auto& [n, rounds] : {std::pair{2, 1}, std::pair{8, 3}, std::pair{16, 4}}) {
      const Case one = case_of(collective, Algorithm::Pat, n, 1, 1);
      const double expected = rounds * kAlpha.count();
      EXPECT_NEAR(seconds(one.request), expected, expected * kOnlyLatency) << n;
    }
  }
}

// LL sends a flag with each word, LL128 one with each 15.
TEST(SimAlgorithms, FlagsTakeTheirShareOfTheWire) {
  for (const auto& [protocol, factor] :
       {std::pair{Protocol::LL, 2.0}, std::pair{Protocol::LL128, 16.0 / 15}}) {
    Case one = ideal_case(2, Collective::Broadcast, 150'000);
    one.request.choice.protocol = protocol;
    const double expected = kAlpha.count() + 6e5 * factor / kRate.value;
    EXPECT_NEAR(seconds(one.request), expected, expected * 1e-6);
  }
}

std::int64_t recorded_steps(const SimRequest& request) {
  std::int64_t steps = 0;
  for (int rank = 0; rank < request.network->nranks(); ++rank) {
    const auto tasks = plan_channels(request.choice, request.channels, request.call, Rank{rank});
    if (!tasks) return -1;
    for (const ChannelTask& task : *tasks) steps += count_steps(record(task));
  }
  return steps;
}

// Each run ends without a deadlock, moves each chunk to its place, and makes only the steps of the proved programs.
TEST(SimAlgorithms, EveryCollectiveRunsByEveryAlgorithm) {
  int runs = 0;
  for (int c = 0; c <= static_cast<int>(Collective::AllGatherV); ++c) {
    for (int a = 0; a < kAlgorithmCount; ++a) {
      const auto collective = static_cast<Collective>(c);
      const auto algorithm = static_cast<Algorithm>(a);
      if (!has_algorithm(collective, algorithm)) continue;
      if (is_point_to_point(collective) && algorithm != Algorithm::Ring) continue;
      for (const auto& [ranks, ranks_per_node] :
           {std::pair{1, 0}, std::pair{4, 0}, std::pair{6, 3}, std::pair{12, 4}}) {
        Case one = case_of(collective, algorithm, ranks, ranks_per_node, 300'000);
        if (collective == Collective::AllGatherV) {
          one.request.call.counts.assign(static_cast<std::size_t>(ranks), 200'000);
          one.request.call.counts[0] = 7;
        }
        one.request.channels = host_channels(ranks, 2, ranks_per_node);
        one.request.choice.nchannels = 2;
        const std::int64_t expected = recorded_steps(one.request);
        if (expected < 0) continue;  // not possible on these nodes: see the tests of the plan
        const auto result = simulate(one.request);
        ASSERT_TRUE(result) << to_string(collective) << " by " << to_string(algorithm) << " on "
                            << ranks << ": " << result.error().message;
        EXPECT_EQ(result->steps, expected);
        ++runs;
      }
    }
  }
  EXPECT_GT(runs, 60);
}

}  // namespace
}  // namespace ringside
