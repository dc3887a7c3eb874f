#include <gtest/gtest.h>

#include "tests/cuda/process_job.h"

namespace ringside {
namespace {

// Memory of each other's GPUs is opened all the same, and other protocols go there.
TEST(CudaProcessAgreement, Ll128IsRefusedBetweenGpusThatReachEachOtherByPcie) {
  for (const bool is_by_pcie : {false, true}) {
    const ProcessJob job{.shares_by = MemoryWay::Ipc, .is_by_pcie = is_by_pcie};
    const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
      RINGSIDE_TRY(const auto simple, run_case(rank, all_reduce_case(3, Protocol::Simple, 90)));
      const std::map<std::string, int> opened{{"the receiver's GPU, by CUDA IPC", 2}};
      if (rank.communicator.ways() != opened) return 1;
      const auto lines = run_case(rank, all_reduce_case(3, Protocol::LL128, 90));
      if (lines) return is_by_pcie ? 2 : 0;
      return is_by_pcie && lines.error().code == ErrorCode::Unsupported ? 0 : 3;
    });
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(*status, 0) << is_by_pcie;
  }
}

// Channels that one rank has and another has not would be waited for.
TEST(CudaProcessAgreement, RanksOfUnequalGpusTakeAsManyChannels) {
  const ProcessJob job{.op_timeout = Seconds{10}, .small_rank = 1};
  DeviceCase test = all_reduce_case(3, Protocol::Simple, (1 << 20) / 4);
  test.choice.nchannels = 0;  // as many as each would take
  test.choice.slot = {};
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    RINGSIDE_TRY(const auto output, run_case(rank, test));
    return 0;
  });
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(*status, 0);
}

}  // namespace
}  // namespace ringside
