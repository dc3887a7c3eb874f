#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/cuda/links/process_links.h"
#include "engine/runtime/bootstrap/unique_id.h"
#include "harness/job.h"
#include "tests/cuda/device_under_test.h"

namespace ringside {

/// Ranks with a device and launches of their own each: processes of this host, or threads.
struct ProcessJob {
  int nranks = 3;
  std::string transport = {};             ///< between them; empty: the fastest
  MemoryWay shares_by = MemoryWay::None;  ///< as DeviceCompany has it, where there is a choice
  bool lets_adapters = false;             ///< likewise
  MemorySettings memory = {};             ///< what of that is used
  bool registers = true;                  ///< CudaProcessOptions
  Seconds op_timeout{20};                 ///< processes that share cores take their time
  int dead_rank = -1;                     ///< whose blocks end before they begin
  std::string trace_path = {};
  std::string logs = {};    ///< as JobOptions has it
  bool has_switch = false;  ///< as DeviceCompany has it, where there is a choice
  bool is_by_pcie = false;  ///< likewise
  int small_rank = -1;      ///< whose GPU has 2 multiprocessors
  int gpus = 0;             ///< that ranks take by turns; 0: as many as there are ranks
  FaultPlan faults = {};    ///< as JobOptions has it
  std::string dumps = {};   ///< as JobOptions has it
};

/// One rank's part.
struct ProcessRank {
  runtime::Communicator& communicator;
  DeviceUnderTest& device;
  int rank = 0;
};

/// An executor over a device of the rank's own, which it makes.
ExecutorMaker executor_of(const ProcessJob& job, std::unique_ptr<DeviceUnderTest>& device);

/// Each rank a process.
/// errors  as run_job(); Unsupported: there is no device for it
Result<int> run_processes(const ProcessJob& job,
                          const std::function<Result<int>(const ProcessRank& rank)>& main);

/// Returns whether the job could not run because this machine has no device for it.
bool is_without_device(const Result<int>& status);

/// Runs each of `ranks` as a thread of this process; all of them finish together unless something fails.
///
/// id       of the job's root; the job's other ranks run elsewhere
/// returns  the results of `main` in the order of `ranks`, or the error that kept `main` from running
std::vector<Result<int>> run_threads(
    const ProcessJob& job, const std::vector<int>& ranks, const UniqueId& id,
    const std::function<Result<int>(const ProcessRank& rank)>& main);

/// Calls what the case says, out of place, on buffers in the device's memory.
/// returns  the output
/// errors   as Communicator::run()
Result<std::vector<std::byte>> run_case(const ProcessRank& rank, const DeviceCase& test);

/// The same in buffers of the caller, which have room for it.
Result<std::vector<std::byte>> run_case_in(const ProcessRank& rank, const DeviceCase& test,
                                           std::byte* in, std::byte* out);

/// Every case, one after the other.
/// expected  host_answers() of them
/// returns   1: an output is not as expected; that is printed
Result<int> run_cases(const ProcessRank& rank, const std::vector<DeviceCase>& cases,
                      const std::vector<std::vector<std::vector<std::byte>>>& expected);

/// The grid, of integers: their reductions do not depend on what is reduced first, and so not on how the two
/// sides cut their chunks.
std::vector<DeviceCase> integer_grid(int nranks, bool has_lines);

/// A ring over slots of 512 bytes.
DeviceCase all_reduce_case(int nranks, Protocol protocol, std::int64_t count);

}  // namespace ringside

#define EXPECT_ENDS_WELL(status)                                         \
  if (is_without_device(status)) GTEST_SKIP() << status.error().message; \
  ASSERT_TRUE(status) << status.error().message;                         \
  EXPECT_EQ(*status, 0)
