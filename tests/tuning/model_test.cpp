#include "engine/tuning/model.h"

#include <gtest/gtest.h>

#include "engine/tuning/select.h"
#include "tests/tuning/reference_shapes.h"

namespace ringside {
namespace {

float latency(std::string_view version, const CommShape& shape, Algorithm a, Protocol p) {
  return Tuner::make(shape, {}, version)
      .value()
      .table()
      .cost(Collective::AllReduce, a, p)
      .latency_us;
}

float bandwidth(std::string_view version, const CommShape& shape, Algorithm a, Protocol p) {
  return Tuner::make(shape, {}, version)
      .value()
      .table()
      .cost(Collective::AllReduce, a, p)
      .bandwidth_gbs;
}

// The patches of 2.28 on a Blackwell ring's LL128: 73.4 a channel, 34.6 with two nodes from .7 on.
TEST(TuningModel, APatchReleaseIsTheNextDescribedOne) {
  const auto ring = [](const char* version) {
    return load_tuning_model(version)
        ->ring_ll128_channel[static_cast<std::size_t>(GpuClass::Blackwell)][1];
  };
  EXPECT_EQ(ring("2.28.1"), 73.4);
  EXPECT_EQ(ring("2.28.3"), 73.4);
  EXPECT_EQ(ring("2.28.4"), 34.6);
  EXPECT_EQ(ring("2.28"), 34.6);
  EXPECT_EQ(load_tuning_model("2.28.3")->patch, "2.28.3");
  EXPECT_EQ(load_tuning_model("2.28.8")->patch, "2.28.9");
}

TEST(TuningModel, EveryVersionLoads) {
  for (const std::string& version : tuning_versions()) {
    const auto model = load_tuning_model(version);
    ASSERT_TRUE(model) << version << ": " << model.error().message << " " << model.error().help;
    EXPECT_EQ(model->version, version);
    EXPECT_EQ(load_tuning_model(model->patch)->version, version);
  }
}

TEST(TuningModel, AnUnknownVersionNamesTheKnown) {
  for (const char* wrong : {"2.17", "3.0", "2.30.8", "2.30.x", "2", ""}) {
    const auto model = load_tuning_model(wrong);
    ASSERT_FALSE(model) << wrong;
    EXPECT_NE(model.error().help.find("2.30, 2.29"), std::string::npos) << wrong;
  }
}

// One node of 8: base 8.4 + 14 x 4.0 since 2.23, before that 0 + 14 x 28, in 2.18 0 + 14 x 4.
TEST(TuningModel, TreeStepsOfTheSimpleProtocolBecameCheap) {
  const CommShape shape = h100_shape(1);
  EXPECT_NEAR(latency("2.30", shape, Algorithm::Tree, Protocol::Simple), 64.4F, 1e-4F);
  EXPECT_NEAR(latency("2.22", shape, Algorithm::Tree, Protocol::Simple), 392.0F, 1e-4F);
  EXPECT_NEAR(latency("2.18", shape, Algorithm::Tree, Protocol::Simple), 56.0F, 1e-4F);
}

// One node of 8 at 360 GB/s: 360 / 2 over the 141 of Hopper since 2.21; before, 360 / 4 over 87.7.
TEST(TuningModel, RingsOfLlBecameFaster) {
  const CommShape shape = h100_shape(1);
  EXPECT_NEAR(bandwidth("2.21", shape, Algorithm::Ring, Protocol::LL), 141.0F * 8 / 14, 1e-3F);
  EXPECT_NEAR(bandwidth("2.20", shape, Algorithm::Ring, Protocol::LL), 87.7F * 8 / 14, 1e-3F);
}

// NVLS 8 x 40/60 on one node: 2.28 on has the switch's efficiency (59.5 x 8 x 8/14); before, 5/6 of
// 8 x 40; the step was 25 us, 23 us before 2.21; 2.18 charged the 23 us to the base.
TEST(TuningModel, NvlsIsPricedByItsVersion) {
  const CommShape shape = h100_shape(1);
  EXPECT_NEAR(bandwidth("2.28", shape, Algorithm::Nvls, Protocol::Simple), 272.0F, 1e-3F);
  EXPECT_NEAR(bandwidth("2.27", shape, Algorithm::Nvls, Protocol::Simple), 320.0F * 5 / 6, 1e-3F);
  EXPECT_NEAR(latency("2.21", shape, Algorithm::Nvls, Protocol::Simple), 25, 1e-4F);
  EXPECT_NEAR(latency("2.20", shape, Algorithm::Nvls, Protocol::Simple), 23, 1e-4F);
  EXPECT_NEAR(latency("2.18", shape, Algorithm::Nvls, Protocol::Simple), 23, 1e-4F);
  // 4 nodes, NVLSTree of 2.18: the NICs' 48 x 8 x 0.7 x 4 / (2 x 3); of 2.19: min(40, 48 / 2) x 8 x 5/6
  EXPECT_NEAR(bandwidth("2.18", h100_shape(4), Algorithm::NvlsTree, Protocol::Simple),
              48.0F * 8 * 0.7F * 4 / 6, 1e-3F);
  EXPECT_NEAR(bandwidth("2.19", h100_shape(4), Algorithm::NvlsTree, Protocol::Simple),
              24.0F * 8 * 5 / 6, 1e-3F);
}

// 2 nodes of 8, ring LL128: 14 + 26 x 1.9 + 4 x 4.0 with 2N network steps, before 2.23.
TEST(TuningModel, RingsCrossedTheNetworkMoreOften) {
  EXPECT_NEAR(latency("2.23", h100_shape(2), Algorithm::Ring, Protocol::LL128), 75.2F, 1e-4F);
  EXPECT_NEAR(latency("2.22", h100_shape(2), Algorithm::Ring, Protocol::LL128), 79.4F, 1e-4F);
}

TEST(TuningModel, PatCameWithTwentyThree) {
  const auto pat = [](std::string_view version) {
    return Tuner::make(one_gpu_shape(4), {}, version)
        .value()
        .table()
        .cost(Collective::AllGather, Algorithm::Pat, Protocol::Simple);
  };
  EXPECT_EQ(pat("2.22").obstacle, Obstacle::NotInVersion);
  // 2 x 24 GB/s; 0.85 of it, 0.75 since 2.24
  EXPECT_NEAR(pat("2.23").bandwidth_gbs, 40.8F, 1e-3F);
  EXPECT_NEAR(pat("2.24").bandwidth_gbs, 36.0F, 1e-3F);
}

}  // namespace
}  // namespace ringside
