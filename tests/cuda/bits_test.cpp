#include <gtest/gtest.h>

#include "tests/cuda/device_grid.h"
#include "tests/cuda/device_under_test.h"
#include "tests/cuda/host_answer.h"

namespace ringside {
namespace {

void expect_the_hosts_bits(std::vector<DeviceCase> cases) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  const auto expected = host_answers(cases);
  DeviceJob job(device.launcher());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto outputs = job.run(cases[i]);
    ASSERT_TRUE(outputs) << to_string(cases[i]) << ": " << outputs.error().message;
    for (std::size_t rank = 0; rank < outputs->size(); ++rank) {
      ASSERT_EQ(difference(cases[i], (*outputs)[rank], expected[i][rank]), "")
          << to_string(cases[i]) << ", rank " << rank;
    }
  }
}

class CudaBits : public testing::TestWithParam<int> {};

TEST_P(CudaBits, EveryCollectiveAlgorithmAndProtocolGivesTheHostsBits) {
  expect_the_hosts_bits(device_grid(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Ranks, CudaBits, testing::Values(2, 4, 8),
                         [](const auto& test) { return std::to_string(test.param); });

TEST(CudaBits, EveryTypeAndOperationGivesTheHostsBits) { expect_the_hosts_bits(device_types(3)); }

}  // namespace
}  // namespace ringside
