#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/cuda/device/kernel_collective.h"
#include "engine/cuda/launch_works.h"
#include "tests/cuda/device_grid.h"
#include "tests/cuda/device_under_test.h"
#include "tests/cuda/host_answer.h"

namespace ringside {
namespace {

// All kernels are loaded when a GPU is opened: a kernel that is loaded later may wait for one that waits for its rank.
TEST(DeviceWorks, NoKernelIsForgottenWhereAllAreNamed) {
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto collective = static_cast<Collective>(i);
    EXPECT_EQ(std::ranges::count(kKernelCollectives, kernel_collective(collective)), 1)
        << to_string(collective);
  }
}

/// Returns the grid's cases of one kernel, repeated: with other counts, protocols, channels, warps and strands each
/// time.
std::vector<DeviceCase> some_of(Collective collective, int nranks, std::size_t count) {
  std::vector<DeviceCase> alike;
  for (DeviceCase test : device_grid(nranks)) {
    if (test.call.collective == collective) alike.push_back(std::move(test));
  }
  std::vector<DeviceCase> cases;
  for (std::size_t i = 0; i < count; ++i) {
    cases.push_back(alike[i * 5 % alike.size()]);
    cases.back().seed += i;
  }
  return cases;
}

class CudaWorks : public testing::TestWithParam<Collective> {};

// The last step of one call is the first step of the next one, on every connection that both have.
TEST_P(CudaWorks, CallsOfOneLaunchGiveTheHostsBits) {
  for (const auto& [nranks, count] : {std::pair(2, 1U), std::pair(2, 50U), std::pair(3, 20U)}) {
    SCOPED_TRACE(count);
    RINGSIDE_DEVICE_OR_SKIP(device);
    std::vector<DeviceCase> cases = some_of(GetParam(), nranks, count);
    const auto expected = host_answers(cases);
    DeviceJob job(device.launcher());
    for (int turn = 0; turn < 2; ++turn) {
      const auto outputs = job.run_together(cases);
      ASSERT_TRUE(outputs) << outputs.error().message;
      for (std::size_t i = 0; i < cases.size(); ++i) {
        for (std::size_t rank = 0; rank < expected[i].size(); ++rank) {
          ASSERT_EQ(difference(cases[i], (*outputs)[i][rank], expected[i][rank]), "")
              << "call " << i << ": " << to_string(cases[i]) << ", rank " << rank;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Collectives, CudaWorks,
                         testing::Values(Collective::AllReduce, Collective::AllGather,
                                         Collective::ReduceScatter, Collective::SendRecv),
                         [](const auto& test) { return to_string(test.param); });

// When a rank times out, the others give up at once, in this call and before the next one.
TEST(CudaWorks, NoCallBeginsAfterOneThatWasGivenUp) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  device.dead_rank = 1;
  std::vector<DeviceCase> cases = some_of(Collective::AllReduce, 3, 10);
  static_cast<void>(host_answers(cases));  // fills in the values that their choices leave open
  for (DeviceCase& test : cases) test.timeout = std::chrono::milliseconds(100);
  DeviceJob job(device.launcher());
  const auto outputs = job.run_together(cases);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, ErrorCode::Timeout) << outputs.error().message;
  EXPECT_EQ(device.launcher().control->abort, DeviceControl::kByKernel);
}

// The grid of all tests of bits includes the algorithms that NCCL does not have, with as many protocols.
TEST(CudaWorks, OneShotAndTwoShotAreAmongTheCasesOnDevices) {
  for (const Algorithm algorithm : {Algorithm::OneShot, Algorithm::TwoShot}) {
    std::set<Protocol> protocols;
    for (const DeviceCase& test : device_grid(4)) {
      if (test.choice.algorithm == algorithm) protocols.insert(test.choice.protocol);
    }
    EXPECT_GE(protocols.size(), 2U) << to_string(algorithm);
  }
}

TEST(LaunchWorks, AreAsManyAsThereIsRoomFor) {
  DeviceGrid grid;
  grid.count = 6;
  grid.places = 3;
  grid.strands = 2;
  grid.warps_per_strand = 2;
  const std::vector<DeviceBuffers> buffers(3);
  DeviceLaunch launch;
  int count = 0;
  while (add_work(launch, grid, buffers)) ++count;
  EXPECT_EQ(count, 42);  // 128 buffers of 3 ranks
  EXPECT_EQ(launch.works, 42);
  EXPECT_EQ(launch.blocks(), 6);
  EXPECT_EQ(launch.warps, 4);
  EXPECT_EQ(launch.work[41].first_buffers, 123);
  DeviceLaunch other = launch_of(grid, buffers);
  grid.places = 2;
  EXPECT_FALSE(add_work(other, grid, std::span(buffers).first(2)));  // of other ranks
}

}  // namespace
}  // namespace ringside
