#include "engine/tuning/select.h"

#include <gtest/gtest.h>

#include "tests/tuning/reference_shapes.h"

namespace ringside {
namespace {

Tuner tuner_of(const CommShape& shape, const TuningParameters& parameters = {},
               std::string_view version = kBaseRelease) {
  return Tuner::make(shape, parameters, version).value();
}

void expect_cost(const Tuner& tuner, Collective c, Algorithm a, Protocol p, float latency,
                 float bandwidth) {
  const Cost& cost = tuner.table().cost(c, a, p);
  SCOPED_TRACE(std::string(to_string(c)) + " " + to_string(a) + "/" + to_string(p));
  EXPECT_NEAR(cost.latency_us, latency, 1e-4F);
  EXPECT_NEAR(cost.bandwidth_gbs, bandwidth, bandwidth * 1e-5F);
}

// 8 ranks, 14 steps: a ring gets 8/14 of its bus.
TEST(Tuner, OneNodeOfEightPricesRingsTreesAndNvls) {
  const Tuner tuner = tuner_of(h100_shape(1));
  constexpr auto kAll = Collective::AllReduce;
  // min(141, 360 / 2) x 8/14; 6.6 + 14 x 0.6
  expect_cost(tuner, kAll, Algorithm::Ring, Protocol::LL, 15, 141.0F * 8 / 14);
  // min(0.92 x 360, 12 x 36.7) x 8/14; 14 + 14 x 1.9
  expect_cost(tuner, kAll, Algorithm::Ring, Protocol::LL128, 40.6F, 331.2F * 8 / 14);
  // 360 x 8/14; 8.4 + 14 x 3.4
  expect_cost(tuner, kAll, Algorithm::Ring, Protocol::Simple, 56, 360.0F * 8 / 14);
  // 331.2 / 3.8 / 2; 6.8 + 2 x 7 x 0.6
  expect_cost(tuner, kAll, Algorithm::Tree, Protocol::LL, 15.2F, 331.2F / 3.8F / 2);
  // 331.2 x 7/9 / 2; 14 + 2 x 7 x 1.25
  expect_cost(tuner, kAll, Algorithm::Tree, Protocol::LL128, 31.5F, 128.8F);
  // 40 x 0.85 x 7/8 x 2 = 59.5 a head, 8 heads, 8/14
  expect_cost(tuner, kAll, Algorithm::Nvls, Protocol::Simple, 25, 59.5F * 8 * 8 / 14);
  EXPECT_EQ(tuner.table().cost(kAll, Algorithm::NvlsTree, Protocol::Simple).obstacle,
            Obstacle::OneNode);
}

// 16 ranks on 2 nodes, 30 steps: the trees of one GPU each get 0.85 of their bandwidth.
TEST(Tuner, TwoNodesPayTheNetworkAndTheCpu) {
  const Tuner tuner = tuner_of(h100_shape(2));
  constexpr auto kAll = Collective::AllReduce;
  // min(331.2 / 3.8, 39) x 0.85 / 2; 6.8 + 2 x (7 x 0.6 + 5)
  expect_cost(tuner, kAll, Algorithm::Tree, Protocol::LL, 25.2F, 16.575F);
  // 39 x 16/30; 6.6 + 28 x max(0.6, 1.0) + 2 x 2.7
  expect_cost(tuner, kAll, Algorithm::Ring, Protocol::LL, 40, 20.8F);
  // 57.7 x 8 x 16/30; 25 + 2 x 20.9
  expect_cost(tuner, kAll, Algorithm::NvlsTree, Protocol::Simple, 66.8F, 246.18667F);

  CommShape amd = h100_shape(2);
  amd.cpu_vendor = CpuVendor::Amd;
  // 22.5 x 0.85 / 2, and 2 us of overhead a step: 6.6 + 28 x 2 + 5.4
  expect_cost(tuner_of(amd), kAll, Algorithm::Tree, Protocol::LL, 25.2F, 9.5625F);
  expect_cost(tuner_of(amd), kAll, Algorithm::Ring, Protocol::LL, 68, 12);
}

struct Row {
  CommShape shape;
  Collective collective;
  Bytes bytes;
  Algorithm algorithm;
  Protocol protocol;
  float time_us;
  int max_channels;
};

TEST(Tuner, ChoosesWhatNcclChoosesOnIdealisedNodes) {
  constexpr auto kAll = Collective::AllReduce;
  constexpr auto kGather = Collective::AllGather;
  using enum Algorithm;
  const std::vector<Row> rows{
      {h100_shape(1), kAll, 1_KiB, Ring, Protocol::LL, 15.01F, 1},
      {h100_shape(1), kAll, 64_KiB, Ring, Protocol::LL, 15.81F, 2},
      {h100_shape(1), kAll, 1_MiB, Ring, Protocol::LL, 28.01F, 24},
      {h100_shape(1), kAll, 1_GiB, Nvls, Protocol::Simple, 3972.58F, 16},
      {h100_shape(1), kGather, 16_MiB, Ring, Protocol::LL128, 71.62F, 24},
      {h100_shape(1), Collective::Broadcast, 64_KiB, Ring, Protocol::LL, 7.67F, 2},
      {h100_shape(2), kAll, 64_KiB, Tree, Protocol::LL, 31.79F, 16},
      {h100_shape(2), kAll, 1_MiB, Tree, Protocol::LL128, 62.51F, 16},
      {h100_shape(2), kAll, 64_MiB, NvlsTree, Protocol::Simple, 339.39F, 16},
      {h100_shape(4), kAll, 1_GiB, Ring, Protocol::Simple, 5813.56F, 16},
      {one_gpu_shape(4), kAll, 64_KiB, Ring, Protocol::LL, 41.42F, 4},
      {one_gpu_shape(4), kGather, 1_MiB, Pat, Protocol::Simple, 56.33F, 4},
      {one_gpu_shape(8), kAll, 1_MiB, Tree, Protocol::LL128, 164.32F, 4},
      {pcie_shape(), kAll, 256_KiB, Ring, Protocol::LL, 51.92F, 2},
      {pcie_shape(), kGather, 1_GiB, Ring, Protocol::Simple, 40290.82F, 2}};
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(to_string(row.collective)) + " " + std::to_string(row.bytes.value));
    const auto choice =
        tuner_of(row.shape).choose({.collective = row.collective, .bytes = row.bytes});
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->algorithm, row.algorithm);
    EXPECT_EQ(choice->protocol, row.protocol);
    EXPECT_NEAR(choice->prediction.time_us, row.time_us, 0.006F);
    EXPECT_EQ(choice->max_channels, row.max_channels);
  }
}

// 1 MiB has 256 cells of 4096 bytes for 24 channels: 11 cells each make 23 x 45056 + 12288.
TEST(Tuner, CutsTheBytesAndTheChunks) {
  const auto one = tuner_of(h100_shape(1)).choose({.bytes = 1_MiB});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->channels.nchannels(), 24);
  EXPECT_EQ(one->channels.lo * 4, 45056U);
  EXPECT_EQ(one->channels.mid * 4, 45056U);
  EXPECT_EQ(one->channels.hi * 4, 12288U);
  // 576000 halves to 18000, in whole warps of lines 9 x 1920.
  const auto two = tuner_of(h100_shape(2)).choose({.bytes = 1_MiB});
  ASSERT_TRUE(two);
  EXPECT_EQ(two->channels.lo * 4, 65536U);
  EXPECT_EQ(two->chunk, Bytes{17280});
}

TEST(Tuner, SettingsLeaveOthersOut) {
  TuningParameters ring_only;
  for (auto& row : ring_only.algorithms) row.fill(Permission::No);
  for (auto& row : ring_only.algorithms) row[static_cast<int>(Algorithm::Ring)] = Permission::Yes;
  const Tuner tuner = tuner_of(h100_shape(2), ring_only);
  const auto choice = tuner.choose({.bytes = 1_GiB});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->algorithm, Algorithm::Ring);
  const Cost& tree = tuner.table().cost(Collective::AllReduce, Algorithm::Tree, Protocol::LL);
  EXPECT_EQ(tree.obstacle, Obstacle::Algorithm);
}

// NVLSTree needs several nodes: NCCL 2.30 fails, 2.19 took a ring.
TEST(Tuner, NoAllowedAlgorithmIsAnErrorOrARingByVersion) {
  TuningParameters only;
  for (auto& row : only.algorithms) row.fill(Permission::No);
  only.algorithms[static_cast<int>(Collective::AllReduce)][static_cast<int>(Algorithm::NvlsTree)] =
      Permission::Yes;
  const auto now = tuner_of(h100_shape(1), only).choose({.bytes = 1_MiB});
  ASSERT_FALSE(now);
  EXPECT_NE(now.error().help.find("nvls_tree/simple: needs several nodes"), std::string::npos)
      << now.error().help;
  const auto then = tuner_of(h100_shape(1), only, "2.19").choose({.bytes = 1_MiB});
  ASSERT_TRUE(then);
  EXPECT_EQ(then->algorithm, Algorithm::Ring);
  // With 1 MiB, LL is the fastest of the ring's protocols, with a time of its own; 2.22 respects NCCL_PROTO, 2.21 did
  // not.
  EXPECT_EQ(then->protocol, Protocol::LL);
  EXPECT_GT(then->prediction.time_us, 0);
  for (auto& row : only.protocols) row.fill(Permission::No);
  for (auto& row : only.protocols) row[static_cast<int>(Protocol::Simple)] = Permission::Yes;
  const auto protocol = [&](const char* version) {
    return tuner_of(h100_shape(1), only, version).choose({.bytes = 1_MiB})->protocol;
  };
  EXPECT_EQ(protocol("2.22"), Protocol::Simple);
  EXPECT_EQ(protocol("2.21"), Protocol::LL);
}

// 2.18 never removed rings, except for all-reduce.
TEST(Tuner, RingsStayedWhatever) {
  TuningParameters trees;
  for (auto& row : trees.algorithms) row.fill(Permission::No);
  for (auto& row : trees.algorithms) row[static_cast<int>(Algorithm::Tree)] = Permission::Yes;
  const Tuner old = tuner_of(h100_shape(2), trees, "2.18");
  EXPECT_EQ(old.choose({.collective = Collective::AllGather, .bytes = 1_MiB})->algorithm,
            Algorithm::Ring);
  EXPECT_EQ(old.choose({.bytes = 1_MiB})->algorithm, Algorithm::Tree);
  const Tuner now = tuner_of(h100_shape(2), trees);
  EXPECT_FALSE(now.choose({.collective = Collective::AllGather, .bytes = 1_MiB}));
}

// NCCL_ALGO=CollNetDirect without CollNet: up to 2.23, this re-enabled rings and trees.
TEST(Tuner, AskingForCollNetAloneWasNoError) {
  TuningParameters collnet;
  for (auto& row : collnet.algorithms) row.fill(Permission::No);
  for (auto& row : collnet.algorithms) {
    row[static_cast<int>(Algorithm::CollNetDirect)] = Permission::Yes;
  }
  EXPECT_EQ(tuner_of(h100_shape(2), collnet, "2.23").choose({.bytes = 64_B})->algorithm,
            Algorithm::Tree);
  EXPECT_FALSE(tuner_of(h100_shape(2), collnet, "2.24").choose({.bytes = 64_B}));
}

// PXN between nodes of Hopper: always, but from 2.27.5 on only where NCCL_LL128_C2C allows it.
TEST(Tuner, Ll128OverPxnIsAskedForByVersion) {
  CommShape shape = h100_shape(2);
  for (GraphSummary& graph : shape.graphs) graph.type_inter = PathType::Pxn;
  TuningParameters without;
  without.ll128_c2c = false;
  const auto obstacle = [&](const TuningParameters& parameters, const char* version) {
    return tuner_of(shape, parameters, version)
        .table()
        .cost(Collective::AllReduce, Algorithm::Ring, Protocol::LL128)
        .obstacle;
  };
  for (const char* version : {"2.18", "2.26", "2.27.3"}) {
    EXPECT_EQ(obstacle(without, version), Obstacle::None) << version;
  }
  EXPECT_EQ(obstacle(without, "2.27.5"), Obstacle::UnsafeLl128);
  EXPECT_EQ(obstacle({}, "2.27.5"), Obstacle::None);
  shape.min_cc = shape.max_cc = 80;
  EXPECT_EQ(obstacle({}, "2.26"), Obstacle::UnsafeLl128);
}

// The switch sums floats and takes maxima of integers only.
TEST(Tuner, ReductionsThatTheSwitchLacksRuleNvlsOut) {
  const Tuner tuner = tuner_of(h100_shape(1));
  const auto algorithm = [&](DataType type, RedOp op) {
    return tuner.choose({.bytes = 1_GiB, .type = type, .op = op}).value().algorithm;
  };
  EXPECT_EQ(algorithm(DataType::Float32, RedOp::Sum), Algorithm::Nvls);
  EXPECT_EQ(algorithm(DataType::Float32, RedOp::Max), Algorithm::Ring);
  EXPECT_EQ(algorithm(DataType::Int32, RedOp::Max), Algorithm::Nvls);
  EXPECT_EQ(algorithm(DataType::Bfloat16, RedOp::Avg), Algorithm::Ring);
}

TEST(Tuner, OneRankTakesTheRingAndNoTime) {
  CommShape shape = one_gpu_shape(1);
  const auto choice = tuner_of(shape).choose({.bytes = 1_MiB});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->algorithm, Algorithm::Ring);
  EXPECT_EQ(choice->prediction.time_us, 0);
}

TEST(Tuner, RefusesCollectivesThatNcclRunsAsSends) {
  const auto choice =
      tuner_of(h100_shape(2)).choose({.collective = Collective::AllToAll, .bytes = 1_MiB});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, ErrorCode::Unsupported);
}

// 64 all-reduces of 1 KiB are decided as one of 64 KiB: with 24 channels a ring's latency counts
// ceil(64 / 24) = 3 times, a tree's ceil(3 / 8) = 1 time. Each is one cell of 32 KiB traffic; a channel
// gets 64 x 32 KiB / 24 = 2.67 cells, so it takes 3, and 22 channels are used.
TEST(Tuner, AGroupIsDecidedTogether) {
  const std::vector<TuningCall> calls(64, TuningCall{.bytes = 1_KiB});
  const auto choices = tuner_of(h100_shape(1)).choose_group(calls);
  ASSERT_TRUE(choices);
  ASSERT_EQ(choices->size(), 64U);
  EXPECT_EQ(choices->front().algorithm, Algorithm::Tree);
  EXPECT_NEAR(choices->front().prediction.time_us, 17.706F, 1e-3F);
  int last = 0;
  for (const TunedChoice& choice : *choices) {
    EXPECT_EQ(choice.channels.nchannels(), 1);
    EXPECT_EQ(choice.channels.lo, 256U);
    last = std::max(last, choice.channels.last);
  }
  EXPECT_EQ(last, 21);
}

}  // namespace
}  // namespace ringside
