#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "engine/collectives/prove.h"
#include "tests/collectives/tasks.h"

/// Compares each algorithm with the cost that its header states: rounds, and the chunks that cross each edge.
namespace ringside {
namespace {

/// Returns the cost of one loop in which every chunk is full.
ProofSummary cost_of(PlannedCall planned, std::int64_t chunks) {
  planned.call.count = chunks * kTestChunk;
  planned.call.root = Rank{planned.nranks - 1};
  const auto proof = prove(plan_all(planned).front(),
                           {.chunks_in_flight = 64, .interleaving = Interleaving::FirstAhead});
  EXPECT_TRUE(proof) << proof.error().message;
  return proof ? *proof : ProofSummary{};
}

using Pick = std::function<bool(const EdgeTraffic&)>;
constexpr auto kPair = [](const EdgeTraffic& edge) { return edge.group < 0; };
Pick into_group(SwitchGroup::Medium medium) {
  return [medium](const EdgeTraffic& edge) {
    return edge.group >= 0 && edge.medium == medium && edge.to == kNoRank;
  };
}
Pick out_of_group(SwitchGroup::Medium medium) {
  return [medium](const EdgeTraffic& edge) {
    return edge.group >= 0 && edge.medium == medium && edge.from == kNoRank;
  };
}

/// Returns the chunks that each rank sends over the selected edges, or takes from groups, if the number is the same
/// for all ranks; otherwise -1.
std::int64_t chunks_per_rank(const ProofSummary& cost, int n, const Pick& pick) {
  std::vector<std::int64_t> chunks(static_cast<std::size_t>(n), 0);
  for (const EdgeTraffic& edge : cost.edges) {
    const Rank rank = edge.from == kNoRank ? edge.to : edge.from;
    if (pick(edge)) chunks[static_cast<std::size_t>(to_int(rank))] += edge.chunks;
  }
  for (const std::int64_t one : chunks) {
    if (one != chunks[0]) return -1;
  }
  return chunks[0];
}

/// Returns the number of selected edges, each of which must carry one chunk; otherwise -1.
int edges_of_one_chunk(const ProofSummary& cost, const Pick& pick) {
  int edges = 0;
  for (const EdgeTraffic& edge : cost.edges) {
    if (!pick(edge)) continue;
    if (edge.chunks != 1) return -1;
    ++edges;
  }
  return edges;
}

constexpr auto kSwitch = SwitchGroup::Medium::NvSwitch;
constexpr auto kNetwork = SwitchGroup::Medium::Network;

TEST(Cost, OfRings) {
  for (const int n : {2, 3, 8, 17, 64}) {
    const auto cost = [n](Collective collective, std::int64_t chunks) {
      return cost_of({.collective = collective, .nranks = n}, chunks);
    };
    // chunks are 1 / n of the buffer
    EXPECT_EQ(cost(Collective::AllReduce, n).rounds, 2 * (n - 1));
    EXPECT_EQ(chunks_per_rank(cost(Collective::AllReduce, n), n, kPair), 2 * (n - 1));
    for (const Collective half : {Collective::AllGather, Collective::ReduceScatter}) {
      EXPECT_EQ(cost(half, 1).rounds, n - 1);
      EXPECT_EQ(chunks_per_rank(cost(half, 1), n, kPair), n - 1);
    }
    // a chunk is the buffer, and crosses all links but one
    for (const Collective chain : {Collective::Broadcast, Collective::Reduce}) {
      EXPECT_EQ(cost(chain, 1).rounds, n - 1);
      EXPECT_EQ(edges_of_one_chunk(cost(chain, 1), kPair), n - 1);
    }
  }
}

// The deepest rank of 8 in a double tree is reached by 0 - 4 - 2 - 1, so 3 hops; with 16 ranks it takes 4, with 17 one
// more.
TEST(Cost, OfTrees) {
  for (const auto& [n, depth] : {std::pair{2, 1}, {8, 3}, {16, 4}, {17, 5}}) {
    const ProofSummary cost = cost_of({.algorithm = Algorithm::Tree, .nranks = n}, 1);
    EXPECT_EQ(cost.rounds, 2 * depth) << n;
    EXPECT_EQ(edges_of_one_chunk(cost, kPair), 2 * (n - 1));  // up and down
  }
}

// 3 nodes of 4: 3 hops up the chain, one through the network, 3 down.
TEST(Cost, OfTheCollNetChain) {
  const ProofSummary cost =
      cost_of({.algorithm = Algorithm::CollNetChain, .nranks = 12, .ranks_per_node = 4}, 1);
  EXPECT_EQ(cost.rounds, 7);
  EXPECT_EQ(edges_of_one_chunk(cost, kPair), 3 * 2 * 3);
  EXPECT_EQ(edges_of_one_chunk(cost, into_group(kNetwork)), 3);
  EXPECT_EQ(edges_of_one_chunk(cost, out_of_group(kNetwork)), 3);
}

// 3 nodes of 4: slices are 1 / 4 of the buffer; 12 links a node each way, for the way to the heads and for
// the way back.
TEST(Cost, OfCollNetDirectAllReduce) {
  const ProofSummary cost =
      cost_of({.algorithm = Algorithm::CollNetDirect, .nranks = 12, .ranks_per_node = 4}, 4);
  EXPECT_EQ(cost.rounds, 3);
  EXPECT_EQ(edges_of_one_chunk(cost, kPair), 3 * 2 * 12);
  EXPECT_EQ(edges_of_one_chunk(cost, into_group(kNetwork)), 12);
  EXPECT_EQ(edges_of_one_chunk(cost, out_of_group(kNetwork)), 12);
}

// Blocks are 1 / 12 of the whole. On a link within a node go the 3 blocks of a rail: 1 / 4.
TEST(Cost, OfCollNetDirectBlocks) {
  const auto cost = [](Collective collective) {
    return cost_of({.collective = collective,
                    .algorithm = Algorithm::CollNetDirect,
                    .nranks = 12,
                    .ranks_per_node = 4},
                   1);
  };
  const ProofSummary gather = cost(Collective::AllGather);
  EXPECT_EQ(gather.rounds, 2);
  EXPECT_EQ(chunks_per_rank(gather, 12, kPair), 3 * 3);
  EXPECT_EQ(chunks_per_rank(gather, 12, into_group(kNetwork)), 1);
  EXPECT_EQ(chunks_per_rank(gather, 12, out_of_group(kNetwork)), 2);
  const ProofSummary scatter = cost(Collective::ReduceScatter);
  EXPECT_EQ(scatter.rounds, 2);
  EXPECT_EQ(chunks_per_rank(scatter, 12, kPair), 3 * 3);
  EXPECT_EQ(chunks_per_rank(scatter, 12, into_group(kNetwork)), 3);
  EXPECT_EQ(chunks_per_rank(scatter, 12, out_of_group(kNetwork)), 1);
}

// 8 heads: the buffer is 8 slices; each way they are 8 and the own slice once more.
TEST(Cost, OfNvlsAllReduce) {
  const ProofSummary one = cost_of({.algorithm = Algorithm::Nvls, .nranks = 8}, 8 * 32);
  const ProofSummary two =
      cost_of({.algorithm = Algorithm::Nvls, .nranks = 16, .ranks_per_node = 8}, 8 * 32);
  EXPECT_EQ(one.rounds, 2);
  EXPECT_EQ(two.rounds, 3);
  constexpr int kLoops = 32;  // of 8 chunks: the last one is whole, whatever shrinks
  EXPECT_EQ(chunks_per_rank(one, 8, into_group(kSwitch)), 9 * kLoops);
  EXPECT_EQ(chunks_per_rank(one, 8, out_of_group(kSwitch)), 9 * kLoops);
  EXPECT_EQ(chunks_per_rank(two, 16, into_group(kNetwork)), kLoops);
  EXPECT_EQ(chunks_per_rank(two, 16, out_of_group(kNetwork)), kLoops);
}

// 8 nodes of 2: the tree over the nodes is 3 deep; a slice, half of the buffer, crosses its 7 edges both ways
// for each of the 2 heads.
TEST(Cost, OfNvlsTree) {
  const ProofSummary cost =
      cost_of({.algorithm = Algorithm::NvlsTree, .nranks = 16, .ranks_per_node = 2}, 2);
  EXPECT_EQ(cost.rounds, 2 + 2 * 3);
  EXPECT_EQ(edges_of_one_chunk(cost, kPair), 2 * 2 * 7);
  EXPECT_EQ(chunks_per_rank(cost, 16, into_group(kSwitch)), 3);
  EXPECT_EQ(chunks_per_rank(cost, 16, out_of_group(kSwitch)), 3);
}

// 8 ranks on one node, and 3 nodes of 4, where a rail has 3 blocks.
TEST(Cost, OfNvlsBlocks) {
  const auto cost = [](Collective collective, int n, int ranks_per_node) {
    return cost_of({.collective = collective,
                    .algorithm = Algorithm::Nvls,
                    .nranks = n,
                    .ranks_per_node = ranks_per_node},
                   1);
  };
  const ProofSummary gather = cost(Collective::AllGather, 8, 0);
  EXPECT_EQ(gather.rounds, 1);
  EXPECT_EQ(chunks_per_rank(gather, 8, into_group(kSwitch)), 1);
  EXPECT_EQ(chunks_per_rank(gather, 8, out_of_group(kSwitch)), 8);
  const ProofSummary scatter = cost(Collective::ReduceScatter, 8, 0);
  EXPECT_EQ(scatter.rounds, 1);
  EXPECT_EQ(chunks_per_rank(scatter, 8, into_group(kSwitch)), 8);
  EXPECT_EQ(chunks_per_rank(scatter, 8, out_of_group(kSwitch)), 1);

  const ProofSummary gathers = cost(Collective::AllGather, 12, 4);
  EXPECT_EQ(gathers.rounds, 2);
  EXPECT_EQ(chunks_per_rank(gathers, 12, into_group(kSwitch)), 3);
  EXPECT_EQ(chunks_per_rank(gathers, 12, out_of_group(kSwitch)), 12);
  EXPECT_EQ(chunks_per_rank(gathers, 12, into_group(kNetwork)), 1);
  EXPECT_EQ(chunks_per_rank(gathers, 12, out_of_group(kNetwork)), 2);
  const ProofSummary scatters = cost(Collective::ReduceScatter, 12, 4);
  EXPECT_EQ(scatters.rounds, 2);
  EXPECT_EQ(chunks_per_rank(scatters, 12, into_group(kSwitch)), 12);
  EXPECT_EQ(chunks_per_rank(scatters, 12, out_of_group(kSwitch)), 3);
  EXPECT_EQ(chunks_per_rank(scatters, 12, into_group(kNetwork)), 3);
  EXPECT_EQ(chunks_per_rank(scatters, 12, out_of_group(kNetwork)), 1);
}

// Each rank sends to all n ranks, one of which is itself.
TEST(Cost, OfOneShot) {
  for (const int n : {2, 5, 16}) {
    const ProofSummary cost = cost_of({.algorithm = Algorithm::OneShot, .nranks = n}, 1);
    EXPECT_EQ(cost.rounds, 1);
    EXPECT_EQ(chunks_per_rank(cost, n, kPair), n);
    EXPECT_EQ(edges_of_one_chunk(cost, kPair), n * n);
  }
}

// A chunk goes to each owner and its sum comes back: as in a ring, but in two rounds.
TEST(Cost, OfTwoShot) {
  for (const int n : {2, 5, 16}) {
    const ProofSummary cost = cost_of({.algorithm = Algorithm::TwoShot, .nranks = n}, n);
    EXPECT_EQ(cost.rounds, 2);
    EXPECT_EQ(chunks_per_rank(cost, n, kPair), 2 * (n - 1));
    EXPECT_EQ(edges_of_one_chunk(cost, kPair), 2 * n * (n - 1));
  }
}

// With 8 chunks in flight, up to 16 ranks are n / 2 together. The deepest leaf is the largest 2^k - 1 below n,
// k hops from the owner.
TEST(Cost, OfPat) {
  for (const int n : {2, 3, 5, 8, 11, 16}) {
    for (const Collective collective : {Collective::AllGather, Collective::ReduceScatter}) {
      const ProofSummary cost =
          cost_of({.collective = collective, .algorithm = Algorithm::Pat, .nranks = n}, 1);
      EXPECT_EQ(cost.rounds, std::bit_width(static_cast<unsigned>(n)) - 1) << n;  // log2(n)
      EXPECT_EQ(chunks_per_rank(cost, n, kPair), n - 1) << n;
    }
  }
}

TEST(Cost, OfExchanges) {
  const ProofSummary all_to_all = cost_of({.collective = Collective::AllToAll, .nranks = 8}, 1);
  EXPECT_EQ(all_to_all.rounds, 1);  // no rank waits for a receive before it sends
  EXPECT_EQ(edges_of_one_chunk(all_to_all, kPair), 8 * 7);
  EXPECT_EQ(edges_of_one_chunk(cost_of({.collective = Collective::Gather, .nranks = 8}, 1), kPair),
            7);
  EXPECT_EQ(edges_of_one_chunk(cost_of({.collective = Collective::Scatter, .nranks = 8}, 1), kPair),
            7);
}

}  // namespace
}  // namespace ringside
