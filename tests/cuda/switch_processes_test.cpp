#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "harness/bench.h"
#include "harness/bench_grid.h"
#include "ringside/trace_reader.h"
#include "tests/cuda/host_answer.h"
#include "tests/cuda/switch_cases.h"

namespace ringside {
namespace {

class CudaSwitchProcesses : public testing::TestWithParam<int> {};

TEST_P(CudaSwitchProcesses, EveryCollectiveGivesTheHostsAnswer) {
  std::vector<DeviceCase> cases = nvls_cases(GetParam());
  const auto expected = host_answers(cases);
  for (const MemoryAccess way : {MemoryAccess::File, MemoryAccess::Ipc}) {
    const auto status = run_processes(switch_job(GetParam(), way), [&](const ProcessRank& rank) {
      return run_switch_cases(rank, cases, expected);
    });
    RINGSIDE_ENDS_WELL_OR_SKIP(status);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, CudaSwitchProcesses, testing::Values(2, 3, 4),
                         [](const auto& test) { return std::to_string(test.param); });

/// Returns whether the events of a traced all-reduce with nvls report that copies replaced a switch.
Result<bool> is_said_to_be_modelled(ProcessJob job) {
  job.trace_path = fmt::format("{}cuda_switch_{}.rtrace", testing::TempDir(), ::getpid());
  const DeviceCase test = nvls_case(Collective::AllReduce, 2, 90);
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    if (!has_switch(rank, 2)) return kNoSwitch;
    RINGSIDE_TRY(const auto output, run_case(rank, test));
    return 0;
  });
  if (status && *status == kNoSwitch) return Error{ErrorCode::Unsupported, "no NVIDIA driver"};
  RINGSIDE_TRY(status);
  const auto trace = TraceFile::open(job.trace_path);
  std::filesystem::remove(job.trace_path);
  RINGSIDE_TRY(trace);
  int modelled = 0, all = 0;
  trace->for_each_event([&](const TraceEvent& event) {
    ++all;
    modelled += event.is_modelled ? 1 : 0;
  });
  EXPECT_GT(all, 2);
  EXPECT_TRUE(modelled == 0 || modelled == all) << modelled << " of " << all;
  return modelled != 0;
}

#define EXPECT_MODELLED(job, is_it)                                                \
  if (const auto said = is_said_to_be_modelled(job); said) {                       \
    EXPECT_EQ(*said, is_it);                                                       \
  } else if (said.error().message.find("no NVIDIA driver") == std::string::npos) { \
    ADD_FAILURE() << said.error().message;                                         \
  }

TEST(CudaSwitchProcesses, TheTraceShowsWhetherASwitchWasUsed) {
  EXPECT_MODELLED(switch_job(2, MemoryAccess::File), false);
}

// NCCL_NVLS_ENABLE=0 on one rank suffices, as all ranks make the same choice.
TEST(CudaSwitchProcesses, CopiesReplaceASwitchThatIsNotRequested) {
  ProcessJob job = switch_job(2, MemoryAccess::File);
  job.memory.by_switch = false;
  EXPECT_MODELLED(job, true);
}

TEST(CudaSwitchProcesses, CopiesModelASwitchIfRanksShareAGpu) {
  ProcessJob job = switch_job(2, MemoryAccess::File);
  job.gpus = 1;
  EXPECT_MODELLED(job, true);
}

// Bench runs and prints requests for nvls, and the grid of all algorithms.
TEST(CudaSwitchProcesses, ABenchmarkReportsTheUseOfASwitch) {
  const ProcessJob job = switch_job(2, MemoryAccess::File);
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    if (!has_switch(rank, 2)) return kNoSwitch;
    BenchOptions options;
    options.sizes = {3000_B};
    options.warmup = 1;
    options.iterations = 1;
    options.device = &rank.device.launcher().memory;
    rank.communicator.set_settings({.algorithm = Algorithm::Nvls});
    RINGSIDE_TRY(const auto rows, run_bench(rank.communicator, options, [](const BenchRow&) {}));
    const BenchRow& row = rows.front();
    if (row.out_of_place.wrong != 0 || row.in_place->wrong != 0) return 1;
    if (!row.choice.by_switch || is_modelled(row.choice)) return 2;
    RINGSIDE_TRY(const auto grid,
                 run_bench_grid(rank.communicator, options, [](const GridRow&) {}));
    for (const GridCell& cell : grid.front().cells) {
      const bool is_by_switch =
          cell.algorithm == Algorithm::Nvls && cell.protocol == Protocol::Simple;
      if (cell.wrong != 0) return 3;
      if (is_by_switch && cell.is_modelled) return 4;
      if (!is_by_switch && cell.is_modelled != facts_of(cell.algorithm).is_modelled()) return 5;
    }
    return 0;
  });
  RINGSIDE_ENDS_WELL_OR_SKIP(status);
}

TEST(CudaSwitchProcesses, ARankThatDoesNotComeInTheKernelIsWaitedForNoLongerThanTheTimeOut) {
  ProcessJob job = switch_job(3, MemoryAccess::File);
  job.op_timeout = Seconds{0.5};
  job.dead_rank = 1;
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    if (!has_switch(rank, 3)) return kNoSwitch;
    const auto output = run_case(rank, nvls_case(Collective::AllReduce, 3, 40000));
    if (rank.rank == 1) return 0;
    if (output) return 1;
    return output.error().message.find("waited in vain for") != std::string::npos ? 0 : 2;
  });
  // The job may end with the first rank's error, which every rank reports.
  if (!status && status.error().code == ErrorCode::Timeout) return;
  RINGSIDE_ENDS_WELL_OR_SKIP(status);
}

// No rank can see its end through the switch; it shows in the sockets that close.
TEST(CudaSwitchProcesses, ARankThatIsKilledEndsTheKernelsOfAll) {
  ProcessJob job = switch_job(3, MemoryAccess::File);
  job.op_timeout = Seconds{3600};
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    if (!has_switch(rank, 3)) return kNoSwitch;
    const DeviceCase test = nvls_case(Collective::AllReduce, 3, 40000);
    RINGSIDE_TRY(const auto first, run_case(rank, test));
    RINGSIDE_TRY(rank.communicator.barrier());  // all are connected, and in no call
    if (rank.rank == 1) ::kill(::getpid(), SIGKILL);
    const auto second = run_case(rank, test);
    return second ? Result<int>(1) : Result<int>(second.error());
  });
  if (status) {
    RINGSIDE_ENDS_WELL_OR_SKIP(status);
    FAIL() << "no rank has missed rank 1";
  }
  if (status.error().message.find("no NVIDIA driver") != std::string::npos) GTEST_SKIP();
  EXPECT_NE(status.error().message.find("rank 1"), std::string::npos) << status.error().message;
}

// Rank 1 never calls: the others wait for it before or while memory behind the switch is laid out.
TEST(CudaSwitchProcesses, AnAbortEndsTheWaitForMemory) {
  ProcessJob job = switch_job(3, MemoryAccess::File);
  job.op_timeout = Seconds{3600};
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    if (!has_switch(rank, 3)) return kNoSwitch;
    if (rank.rank == 1) return Error{ErrorCode::InvalidArgument, "rank 1 has had enough"};
    const auto output = run_case(rank, nvls_case(Collective::AllReduce, 3, 90));
    return output ? Result<int>(1) : Result<int>(output.error());
  });
  if (status) {
    RINGSIDE_ENDS_WELL_OR_SKIP(status);
    FAIL() << "no rank has missed rank 1";
  }
  if (status.error().message.find("no NVIDIA driver") != std::string::npos) GTEST_SKIP();
  EXPECT_NE(status.error().message.find("rank 1"), std::string::npos) << status.error().message;
}

}  // namespace
}  // namespace ringside
