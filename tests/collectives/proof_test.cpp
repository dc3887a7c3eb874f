#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "engine/collectives/prove.h"
#include "tests/collectives/tasks.h"

namespace ringside {
namespace {

std::string name_of(const PlannedCall& planned) {
  return fmt::format("{} by {}, {} ranks, {} a node, {} channels, {} elements",
                     to_string(planned.collective), to_string(planned.algorithm), planned.nranks,
                     planned.ranks_per_node, planned.nchannels, planned.call.count);
}

/// Proves each channel of the call with 2 chunks a connection, which is the least that a plan may
/// leave it, in the order of one thread; and with `is_thorough` in all orders and depths, and where senders store
/// straight into outputs, as early as they can.
void expect_proof(const PlannedCall& planned, bool is_thorough) {
  for (const std::vector<ChannelTask>& tasks : plan_all(planned)) {
    const auto expect_fine = [&](const ProofOptions& options) {
      const auto proof = prove(tasks, options);
      ASSERT_TRUE(proof) << name_of(planned) << ": " << proof.error().message;
    };
    // Only PAT considers the depth: it sends as many chunks ahead as there is room for.
    const int least = std::max(2, tasks.front().pat.together);
    expect_fine({.chunks_in_flight = least});
    if (!is_thorough) continue;
    expect_fine({.chunks_in_flight = 8});
    const std::vector<DirectStores> direct =
        planned.nranks <= 33 ? find_direct_stores(tasks) : std::vector<DirectStores>();
    expect_fine({.chunks_in_flight = least, .direct = direct});
    if (tasks.front().strands.count == 1) continue;
    expect_fine({.chunks_in_flight = 8, .interleaving = Interleaving::LastAhead, .direct = direct});
    expect_fine({.chunks_in_flight = least, .interleaving = Interleaving::FirstAhead});
    expect_fine({.chunks_in_flight = least, .interleaving = Interleaving::LastAhead});
    expect_fine({.chunks_in_flight = 8, .interleaving = Interleaving::FirstAhead});
  }
}

std::vector<int> all_sizes() {
  std::vector<int> sizes(64);
  std::iota(sizes.begin(), sizes.end(), 1);
  sizes.insert(sizes.end(), {72, 96, 128});
  return sizes;
}

bool is_thorough(int n) { return n <= 9 || n == 16 || n == 24 || n == 33 || n == 64 || n == 72; }

/// Elements that give each channel `loops` loops of `slices` chunks, the last one ragged.
std::int64_t ragged_count(int slices, int loops, int nchannels) {
  return (loops * slices * kTestChunk - kTestChunk / 2 - 3) * nchannels;
}

class EveryRing : public testing::TestWithParam<Collective> {};

TEST_P(EveryRing, EachContributionArrivesExactlyOnce) {
  for (const int n : all_sizes()) {
    const int slices = GetParam() == Collective::AllReduce ? n : 1;
    const int nchannels = n % 3 == 0 ? 2 : 1;
    PlannedCall planned{.collective = GetParam(), .nranks = n, .nchannels = nchannels};
    planned.call.count = ragged_count(slices, 3, nchannels);
    planned.call.root = Rank{n / 2};
    expect_proof(planned, is_thorough(n));
  }
}

INSTANTIATE_TEST_SUITE_P(Proof, EveryRing,
                         testing::Values(Collective::AllReduce, Collective::AllGather,
                                         Collective::ReduceScatter, Collective::Broadcast,
                                         Collective::Reduce),
                         [](const auto& one) { return nccl_name(one.param); });

// The way up runs 2 x depth loops ahead: enough of them that it is ahead for long.
TEST(Proof, TreeAllReduceOnEitherTree) {
  for (const int n : all_sizes()) {
    for (const int ranks_per_node : {0, 4}) {
      PlannedCall planned{.algorithm = Algorithm::Tree,
                          .nranks = n,
                          .ranks_per_node = ranks_per_node,
                          .nchannels = 2};
      planned.call.count = ragged_count(1, is_thorough(n) ? 40 : 5, 2);
      expect_proof(planned, is_thorough(n));
    }
  }
}

/// Every number of ranks on nodes of several lengths, the last of them shorter where they do not fit.
void expect_proof_on_nodes(Algorithm algorithm, int least_nodes) {
  for (const int n : all_sizes()) {
    for (const int ranks_per_node : {1, 3, 8, n}) {
      if (n > 1 && (ranks_per_node > n || n < (least_nodes - 1) * ranks_per_node + 1)) continue;
      if (n > 1 && ranks_per_node == n && least_nodes > 1) continue;
      PlannedCall planned{.algorithm = algorithm,
                          .nranks = n,
                          .ranks_per_node = ranks_per_node,
                          .nchannels = n % 2 + 1};
      const int heads = n % ranks_per_node == 0 ? ranks_per_node : n % ranks_per_node;
      planned.call.count = ragged_count(std::min(heads, 32), 6, planned.nchannels);
      expect_proof(planned, is_thorough(n));
    }
  }
}

TEST(Proof, CollNetChainAllReduce) { expect_proof_on_nodes(Algorithm::CollNetChain, 2); }
TEST(Proof, CollNetDirectAllReduce) {
  for (const int n : all_sizes()) {
    for (const int ranks_per_node : {1, 3, 8}) {
      if (n <= ranks_per_node && n > 1) continue;
      PlannedCall planned{.algorithm = Algorithm::CollNetDirect,
                          .nranks = n,
                          .ranks_per_node = ranks_per_node,
                          .nchannels = n % 2 + 1};
      planned.call.count = ragged_count(3, 6, planned.nchannels);
      expect_proof(planned, is_thorough(n));
    }
  }
}
TEST(Proof, NvlsAllReduce) { expect_proof_on_nodes(Algorithm::Nvls, 1); }
TEST(Proof, NvlsTreeAllReduce) { expect_proof_on_nodes(Algorithm::NvlsTree, 2); }

// Every rank must head its block, so nodes are of one length and of 32 ranks at most.
TEST(Proof, BlocksByNvlsAndCollNetDirect) {
  for (const Algorithm algorithm : {Algorithm::Nvls, Algorithm::CollNetDirect}) {
    for (const Collective collective : {Collective::AllGather, Collective::ReduceScatter}) {
      for (const int n : all_sizes()) {
        for (const int ranks_per_node : {1, 2, 8, n}) {
          const bool is_direct = algorithm == Algorithm::CollNetDirect;
          if (n % ranks_per_node != 0 || ranks_per_node > 32) continue;
          if (is_direct && n > 1 && ranks_per_node == n) continue;
          PlannedCall planned{.collective = collective,
                              .algorithm = algorithm,
                              .nranks = n,
                              .ranks_per_node = ranks_per_node,
                              .nchannels = n % 2 + 1};
          planned.call.count = ragged_count(1, 3, planned.nchannels);
          expect_proof(planned, is_thorough(n) && n < 64);
        }
      }
    }
  }
}

// 1, 2, 4 and 8 chunks at a time, as chunks take 8, 4, 2 and 1 of a connection's slots.
TEST(Proof, OneShotAllReduceOfAllRanksThatItJoins) {
  for (int n = 1; n <= kMaxPortsInSet; ++n) {
    PlannedCall planned{.algorithm = Algorithm::OneShot, .nranks = n, .nchannels = n % 2 + 1};
    planned.call.count = ragged_count(1, 5, planned.nchannels);
    expect_proof(planned, true);
  }
}

TEST(Proof, TwoShotAllReduceOfAllRanksThatItJoins) {
  for (int n = 1; n <= kMaxPortsInSet; ++n) {
    PlannedCall planned{.algorithm = Algorithm::TwoShot, .nranks = n, .nchannels = n % 2 + 1};
    planned.call.count = ragged_count(n, 5, planned.nchannels);
    expect_proof(planned, true);
  }
}

TEST(Proof, PatWithAnyNumberOfChunksTogether) {
  for (const Collective collective : {Collective::AllGather, Collective::ReduceScatter}) {
    for (const int n : all_sizes()) {
      for (const int slots_per_chunk : {1, 4}) {
        if (slots_per_chunk == 4 && !is_thorough(n)) continue;
        PlannedCall planned{.collective = collective,
                            .algorithm = Algorithm::Pat,
                            .nranks = n,
                            .slots_per_chunk = slots_per_chunk};
        planned.call.count = ragged_count(1, 3, 1);
        expect_proof(planned, is_thorough(n));
      }
    }
  }
}

// Blocks of 0, 1, 2, .. chunks: the short ones end while the long ones go on.
TEST(Proof, AllGatherOfBlocksOfAnyLength) {
  for (const int n : all_sizes()) {
    PlannedCall planned{.collective = Collective::AllGatherV, .nranks = n, .nchannels = n % 2 + 1};
    for (int rank = 0; rank < n; ++rank) planned.call.counts.push_back(rank % 5 * 100);
    expect_proof(planned, is_thorough(n));
  }
}

TEST(Proof, AllToAllGatherAndScatter) {
  for (const Collective collective :
       {Collective::AllToAll, Collective::Gather, Collective::Scatter, Collective::SendRecv}) {
    for (const int n : all_sizes()) {
      for (const int ranks_per_node : {0, 8}) {
        if (ranks_per_node == 8 && (n % 4 != 0 || n <= 8)) continue;
        PlannedCall planned{.collective = collective,
                            .nranks = n,
                            .ranks_per_node = ranks_per_node,
                            .nchannels = n <= 16 ? 4 : 1};
        planned.call.count = n <= 16 ? 2000 : 300;
        planned.call.root = Rank{n / 3};
        expect_proof(planned, is_thorough(n));
      }
    }
  }
}

// Each pair of ranks has its own length, many of them none: no rank may wait for one that will not come.
TEST(Proof, SendsAndReceivesOfAnyLength) {
  for (const int n : {2, 3, 5, 8, 13, 24, 64}) {
    const auto length = [](int from, int to) { return (from * 7 + to * 13) % 6 * 90; };
    const Choice choice{
        .collective = Collective::SendRecv, .nchannels = 2, .slot = 512_B, .chunk = 512_B};
    std::vector<std::vector<ChannelTask>> by_channel(2);
    for (int rank = 0; rank < n; ++rank) {
      CallShape call;
      for (int peer = 0; peer < n; ++peer) {
        call.sends.push_back({Rank{peer}, peer * 1000, length(rank, peer)});
        call.recvs.push_back({Rank{peer}, peer * 1000, length(peer, rank)});
      }
      auto tasks = plan_channels(choice, host_channels(n, 2, n % 8 == 0 ? 8 : 0), call, Rank{rank});
      ASSERT_TRUE(tasks) << tasks.error().message;
      for (std::size_t i = 0; i < 2; ++i) by_channel[i].push_back(std::move((*tasks)[i]));
    }
    for (const auto& tasks : by_channel) {
      const auto proof = prove(tasks);
      ASSERT_TRUE(proof) << n << " ranks: " << proof.error().message;
    }
  }
}

}  // namespace
}  // namespace ringside
