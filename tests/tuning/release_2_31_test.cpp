#include <gtest/gtest.h>

#include "engine/tuning/select.h"
#include "tests/tuning/reference_shapes.h"

// Tests what NCCL 2.31 prices and chooses differently from 2.30, one rule per test, on one shape with both releases.
namespace ringside {
namespace {

Tuner tuner_of(std::string_view version, const CommShape& shape,
               const TuningParameters& parameters = {}) {
  return Tuner::make(shape, parameters, version).value();
}

Cost cost(std::string_view version, const CommShape& shape, Collective c, Algorithm a,
          Protocol p = Protocol::Simple) {
  return tuner_of(version, shape).table().cost(c, a, p);
}

/// Two or more nodes of 8 GPUs of compute capability 100 whose links inside carry 48 GB/s a channel, the NICs 24.
CommShape blackwell_shape(int nnodes) {
  CommShape shape = h100_shape(nnodes);
  shape.min_cc = shape.max_cc = 100;
  shape.graphs[0] = summary(GraphId::Ring, Pattern::Ring, 8, 48, 24);
  shape.graphs[1] = summary(GraphId::Tree, Pattern::BalancedTree, 8, 48, 24);
  shape.max_tree_pattern = Pattern::BalancedTree;
  return shape;
}

/// Returns h100_shape with a network that reduces.
CommShape collnet_shape(int nnodes, int heads) {
  CommShape shape = h100_shape(nnodes);
  shape.has_collnet = shape.has_collnet_chain = true;
  shape.collnet_heads = heads;
  shape.graphs[2] = summary(GraphId::CollNetChain, Pattern::Tree, 8, 48, 48);
  shape.graphs[4] = summary(GraphId::CollNetDirect, Pattern::CollNetDirect, 8, 48, 48);
  return shape;
}

// Trees: 0.92 x 8 channels of 48, at most 42.8 each, now of 24; half of it is the algorithm's.
TEST(Release231, TwoBlackwellNodesAreBoundByTheirNics) {
  constexpr auto kAll = Collective::AllReduce;
  const CommShape shape = blackwell_shape(2);
  EXPECT_NEAR(cost("2.30", shape, kAll, Algorithm::Tree).bandwidth_gbs, 42.8F * 8 / 2, 1e-3F);
  EXPECT_NEAR(cost("2.31", shape, kAll, Algorithm::Tree).bandwidth_gbs, 0.92F * 192 / 2, 1e-3F);
  EXPECT_NEAR(cost("2.31", shape, kAll, Algorithm::Tree, Protocol::LL128).bandwidth_gbs,
              0.92F * 192 * 0.9375F / 2, 1e-3F);
  // 16 ranks, 30 steps.
  EXPECT_NEAR(cost("2.30", shape, kAll, Algorithm::Ring).bandwidth_gbs, 384.0F * 16 / 30, 1e-3F);
  EXPECT_NEAR(cost("2.31", shape, kAll, Algorithm::Ring).bandwidth_gbs, 192.0F * 16 / 30, 1e-3F);

  CommShape hopper = shape;
  hopper.min_cc = hopper.max_cc = 90;
  for (const Algorithm algorithm : {Algorithm::Tree, Algorithm::Ring}) {
    EXPECT_EQ(cost("2.31", hopper, kAll, algorithm).bandwidth_gbs,
              cost("2.30", hopper, kAll, algorithm).bandwidth_gbs);
  }
}

// 0.75 of 2 channels of 48 GB/s inside and 24 outside; 8 + (14 + what a NIC of 75 us adds) / 3.5 + 2 x 2.8.
TEST(Release231, PatTakesTheNarrowerAndANicsLatencyOnce) {
  CommShape shape = one_gpu_shape(2);
  shape.graphs[1].latency_inter = 75;
  const auto pat = [&](std::string_view version) {
    return cost(version, shape, Collective::AllGather, Algorithm::Pat);
  };
  EXPECT_NEAR(pat("2.30").bandwidth_gbs, 72, 1e-3F);
  EXPECT_NEAR(pat("2.31").bandwidth_gbs, 36, 1e-3F);
  EXPECT_NEAR(pat("2.30").latency_us, 8 + (14 + 2 * 75) / 3.5F + 5.6F, 1e-3F);
  EXPECT_NEAR(pat("2.31").latency_us, 8 + (14 + 75) / 3.5F + 5.6F, 1e-3F);
}

// 8 + 14 / 3.5 + 16 x 2.8; 0.75 x 8 x 48.
TEST(Release231, PatOfSeveralRanksPerNodeIsThereButNeverChosenByItself) {
  const CommShape shape = h100_shape(2);
  EXPECT_EQ(cost("2.30", shape, Collective::AllGather, Algorithm::Pat).obstacle,
            Obstacle::SeveralRanksPerNode);
  const Cost pat = cost("2.31", shape, Collective::AllGather, Algorithm::Pat);
  EXPECT_TRUE(pat.is_available());
  EXPECT_NEAR(pat.latency_us, 56.8F, 1e-3F);
  EXPECT_NEAR(pat.bandwidth_gbs, 288, 1e-3F);

  // At 2 MiB it would take 64 us, a ring's LL128 protocol 79.
  TuningCall call{.collective = Collective::AllGather, .bytes = 2_MiB, .type = DataType::Int8};
  const Tuner tuner = tuner_of("2.31", shape);
  EXPECT_EQ(tuner.choose(call)->algorithm, Algorithm::Ring);

  TuningParameters only;
  for (auto& row : only.algorithms) row.fill(Permission::No);
  only.algorithms[static_cast<std::size_t>(Collective::AllGather)]
                 [static_cast<std::size_t>(Algorithm::Pat)] = Permission::Yes;
  const auto chosen = tuner_of("2.31", shape, only).choose(call);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->algorithm, Algorithm::Pat);
  EXPECT_EQ(chosen->max_channels, 16) << "those of NVLS";
  EXPECT_LE(chosen->chunk, Bytes{131072}) << "that of NVLS";

  CommShape few_heads = shape;
  few_heads.nvls_heads = 7;
  for (const CommShape& lacking : {few_heads, h100_shape(1)}) {
    EXPECT_EQ(cost("2.31", lacking, Collective::AllGather, Algorithm::Pat).obstacle,
              Obstacle::TooFewNvlsHeads);
  }
}

TEST(Release231, PatReducesWhatNvlsDoesAndAloneAnything) {
  const auto obstacle = [](std::string_view version, const CommShape& shape, RedOp op) {
    const Tuner tuner = tuner_of(version, shape);
    for (const Candidate& one :
         tuner.candidates({.collective = Collective::ReduceScatter, .bytes = 1_MiB, .op = op})) {
      if (one.algorithm == Algorithm::Pat && one.protocol == Protocol::Simple) return one.obstacle;
    }
    return Obstacle::NotForCollective;
  };
  EXPECT_EQ(obstacle("2.30", one_gpu_shape(4), RedOp::Avg), Obstacle::Reduction);
  EXPECT_EQ(obstacle("2.31", one_gpu_shape(4), RedOp::Avg), Obstacle::None);
  EXPECT_EQ(obstacle("2.31", h100_shape(2), RedOp::Sum), Obstacle::None);
  EXPECT_EQ(obstacle("2.31", h100_shape(2), RedOp::Max), Obstacle::Reduction);
}

// One rank per node, CollNetChain: one network step, of a tree's 14 us or of its own 30.
TEST(Release231, OnlyRingsOfLoneRanksPayATreesLatency) {
  CommShape shape = one_gpu_shape(4);
  shape.has_collnet = shape.has_collnet_chain = true;
  shape.collnet_heads = 1;
  shape.graphs[2] = summary(GraphId::CollNetChain, Pattern::Tree, 1, 24, 24, PathType::Loc);
  const auto chain = [&](std::string_view version) {
    return cost(version, shape, Collective::AllReduce, Algorithm::CollNetChain).latency_us;
  };
  EXPECT_NEAR(chain("2.30"), 14, 1e-4F);
  EXPECT_NEAR(chain("2.31"), 30, 1e-4F);
  EXPECT_EQ(cost("2.31", shape, Collective::AllReduce, Algorithm::Ring, Protocol::LL).latency_us,
            cost("2.30", shape, Collective::AllReduce, Algorithm::Ring, Protocol::LL).latency_us);
}

// 8.4 + 6 steps of 5.7 or of 4.0.
TEST(Release231, TreesOnPowerCostTheSameAsElsewhere) {
  CommShape shape = pcie_shape();
  shape.cpu_arch = CpuArch::Power;
  const auto tree = [&](std::string_view version) {
    return cost(version, shape, Collective::AllReduce, Algorithm::Tree).latency_us;
  };
  EXPECT_NEAR(tree("2.30"), 42.6F, 1e-4F);
  EXPECT_NEAR(tree("2.31"), 32.4F, 1e-4F);
}

// Nodes of 8 and 4 ranks, NVLS 8 x 40 x 0.85 x 7/8 = 238: of 6 ranks on average 5/6, of 4 at least 3/4.
TEST(Release231, NvlsGathersCountTheSmallestNode) {
  CommShape shape = collnet_shape(2, 8);
  shape.nranks = 12;
  shape.min_local_ranks = 4;
  const auto nvls = [&](std::string_view version) {
    return cost(version, shape, Collective::AllGather, Algorithm::Nvls).bandwidth_gbs;
  };
  EXPECT_NEAR(nvls("2.30"), 238.0F * 5 / 6, 1e-3F);
  EXPECT_NEAR(nvls("2.31"), 238.0F * 3 / 4, 1e-3F);
}

TEST(Release231, CollNetNeedsNoSwitchButAHeadForEachRank) {
  CommShape shape = collnet_shape(2, 8);
  shape.has_nvswitch = false;
  const auto obstacle = [&](std::string_view version, Algorithm algorithm) {
    return cost(version, shape, Collective::AllReduce, algorithm).obstacle;
  };
  EXPECT_EQ(obstacle("2.30", Algorithm::CollNetDirect), Obstacle::NoNvSwitch);
  EXPECT_EQ(obstacle("2.31", Algorithm::CollNetDirect), Obstacle::None);

  shape.has_nvswitch = true;
  shape.collnet_heads = 4;
  for (const Algorithm algorithm : {Algorithm::CollNetDirect, Algorithm::CollNetChain}) {
    EXPECT_EQ(obstacle("2.30", algorithm), Obstacle::None);
    EXPECT_EQ(obstacle("2.31", algorithm), Obstacle::TooManyLocalRanks);
  }
}

// 24 channels of 8 ranks: from 64 B each on, 12 KiB, Simple takes 1.4 times its latency.
TEST(Release231, LongGathersOnOneBlackwellNodeReachThePlateau) {
  CommShape shape = h100_shape(1);
  shape.min_cc = shape.max_cc = 100;
  const auto latency = [&](std::string_view version, Bytes bytes) {
    const Tuner tuner = tuner_of(version, shape);
    return predict(tuner.model(), shape, tuner.table(), Collective::AllGather, Algorithm::Ring,
                   Protocol::Simple, bytes)
        ->latency_us;
  };
  EXPECT_FLOAT_EQ(latency("2.31", Bytes{64 * 24 * 8 - 1}), latency("2.30", 1_KiB));
  EXPECT_FLOAT_EQ(latency("2.30", 1_MiB), latency("2.30", 1_KiB));
  EXPECT_FLOAT_EQ(latency("2.31", Bytes{64 * 24 * 8}), 1.4F * latency("2.30", 1_KiB));
  shape.graphs[0].type_intra = PathType::Phb;
  EXPECT_FLOAT_EQ(latency("2.31", 1_MiB), latency("2.30", 1_MiB)) << "NVLink only";
}

// The Simple column at 1 MiB (log2(bytes / 64) = 14) is 0.5, at 512 MiB 0.9.
TEST(Release231, TreesOfNvlsAreCorrectedOnGraceHostsToo) {
  const auto share = [](std::string_view version, int nnodes, Bytes bytes, float net_gbs = 100) {
    CommShape shape = blackwell_shape(nnodes);
    shape.cpu_arch = CpuArch::Arm;
    shape.nranks = 4 * nnodes;
    shape.min_local_ranks = shape.max_local_ranks = 4;
    shape.min_net_bw = net_gbs;
    const Tuner tuner = tuner_of(version, shape);
    const float full = tuner.table()
                           .cost(Collective::AllReduce, Algorithm::NvlsTree, Protocol::Simple)
                           .bandwidth_gbs;
    return predict(tuner.model(), shape, tuner.table(), Collective::AllReduce, Algorithm::NvlsTree,
                   Protocol::Simple, bytes)
               ->bandwidth_gbs /
           full;
  };
  EXPECT_FLOAT_EQ(share("2.30", 2, 1_MiB), 1);
  EXPECT_FLOAT_EQ(share("2.31", 2, 1_MiB), 0.5F);
  EXPECT_FLOAT_EQ(share("2.31", 2, 1_MiB, 95), 1) << "NICs too slow";
  EXPECT_FLOAT_EQ(share("2.31", 2, 512_MiB), 1);
  EXPECT_FLOAT_EQ(share("2.31", 3, 512_MiB), 0.9F);
}

// 8 GPUs at 10 GB/s over one channel.
TEST(Release231, SlowRingsKeepAllThreads) {
  CommShape shape = pcie_shape();
  shape.graphs[0].bw_intra = shape.graphs[0].bw_inter = 10;
  const auto threads = [&](std::string_view version) {
    return tuner_of(version, shape)
        .table()
        .max_threads[static_cast<std::size_t>(Algorithm::Ring)][2];
  };
  EXPECT_EQ(threads("2.30"), 256);
  EXPECT_EQ(threads("2.31"), 512);
}

// Up to 2.30 a job of one rank has no thresholds, and takes all channels.
TEST(Release231, ALoneRankTakesFewChannelsForFewBytes) {
  const auto channels = [](std::string_view version) {
    return tuner_of(version, one_gpu_shape(1)).choose({.bytes = Bytes{8}})->max_channels;
  };
  EXPECT_EQ(channels("2.30"), 4);
  EXPECT_EQ(channels("2.31"), 1);
}

// CollNet's two algorithms at 31 us and 12 GB/s: a NIC of 0.5 us makes up for the chain's shorter step.
TEST(Release231, TheLastAlgorithmWinsAmongEqualTimes) {
  const auto chosen = [](std::string_view version, float chain_latency) {
    CommShape shape = one_gpu_shape(4);
    shape.min_cc = shape.max_cc = 80;
    shape.has_collnet = shape.has_collnet_chain = true;
    shape.collnet_heads = 1;
    shape.graphs[2] = summary(GraphId::CollNetChain, Pattern::Tree, 1, 24, 24, PathType::Loc);
    shape.graphs[2].latency_inter = chain_latency;
    shape.graphs[4] = summary(GraphId::CollNetDirect, Pattern::CollNetDirect, 1, 24, 24);
    TuningParameters parameters;
    auto& row = parameters.algorithms[static_cast<std::size_t>(Collective::AllReduce)];
    row.fill(Permission::No);
    row[static_cast<std::size_t>(Algorithm::CollNetDirect)] = Permission::Yes;
    row[static_cast<std::size_t>(Algorithm::CollNetChain)] = Permission::Yes;
    return tuner_of(version, shape, parameters).choose({.bytes = 1_MiB})->algorithm;
  };
  EXPECT_EQ(chosen("2.30", 0), Algorithm::CollNetDirect) << "both 14 us, a tree's step";
  EXPECT_EQ(chosen("2.31", 0.5F), Algorithm::CollNetChain);
  EXPECT_EQ(chosen("2.31", 0.6F), Algorithm::CollNetDirect);
}

// The log of 2.31 prints the numbers of LL128 where it is disabled.
TEST(Release231, ARefusedPairKeepsItsCost) {
  CommShape shape = h100_shape(2);
  shape.graphs[0].type_inter = PathType::Sys;
  const auto ring = [&](std::string_view version) {
    return cost(version, shape, Collective::AllReduce, Algorithm::Ring, Protocol::LL128);
  };
  EXPECT_EQ(ring("2.30").obstacle, Obstacle::UnsafeLl128);
  EXPECT_EQ(ring("2.31").obstacle, Obstacle::UnsafeLl128);
  EXPECT_EQ(ring("2.30").bandwidth_gbs, 0);
  EXPECT_GT(ring("2.31").bandwidth_gbs, 0);
}

}  // namespace
}  // namespace ringside
