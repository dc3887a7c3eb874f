#include <gtest/gtest.h>

#include "tests/cuda/process_job.h"

namespace ringside {
namespace {

// Ranks still open each other's GPU memory, and other protocols use it.
TEST(CudaProcessAgreement, Ll128IsRefusedBetweenGpusThatReachEachOtherByPcie) {
  for (const bool is_by_pcie : {false, true}) {
    const ProcessJob job{.shares_by = MemoryAccess::Ipc, .is_by_pcie = is_by_pcie};
    const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
      RINGSIDE_TRY(const auto simple, run_case(rank, all_reduce_case(3, Protocol::Simple, 90)));
      const std::map<std::string, int> opened{{"the receiver's GPU, by CUDA IPC", 2}};
      if (rank.communicator.connection_types() != opened) return 1;
      const auto lines = run_case(rank, all_reduce_case(3, Protocol::LL128, 90));
      if (lines) return is_by_pcie ? 2 : 0;
      return is_by_pcie && lines.error().code == ErrorCode::Unsupported ? 0 : 3;
    });
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(*status, 0) << is_by_pcie;
  }
}

// A rank would wait for channels that only it has.
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

// Under MPS the grids of processes that share a GPU run side by side, so all of their blocks need a multiprocessor each. Every rank of
// a ProcessJob has 64.
TEST(CudaProcessAgreement, RanksThatShareAGpuShareItsMultiprocessors) {
  for (const auto& [gpus, channels] : {std::pair(1, 16), std::pair(2, 32), std::pair(4, 64)}) {
    const ProcessJob job{
        .nranks = 4, .shares_by = MemoryAccess::File, .has_switch = true, .gpus = gpus};
    const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
      const CollectiveCall call{.count = 1 << 26};
      rank.communicator.set_settings({});
      RINGSIDE_TRY(const Choice choice, rank.communicator.choose(call));
      if (choice.nchannels != channels) return 1;
      rank.communicator.set_settings({.nchannels = channels + 1});
      return rank.communicator.choose(call) ? 2 : 0;
    });
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(*status, 0) << gpus << " GPUs";
  }
}

}  // namespace
}  // namespace ringside
