#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/cuda/links/process_links.h"
#include "engine/runtime/bootstrap/unique_id.h"
#include "harness/job.h"
#include "tests/cuda/device_under_test.h"

namespace ringside {

/// A job whose ranks each have a device and launches of their own: processes of this host, or threads.
struct ProcessJob {
  int nranks = 3;
  std::string transport = {};                   ///< between the ranks; empty: the fastest
  MemoryAccess shares_by = MemoryAccess::None;  ///< as in DeviceCompany, if there is a choice
  bool lets_adapters = false;                   ///< as in DeviceCompany
  MemorySettings memory = {};                   ///< the parts of that memory that are used
  bool registers = true;                        ///< as in CudaProcessOptions
  Seconds op_timeout{20};                       ///< processes that share cores are slow
  int dead_rank = -1;                           ///< the rank whose blocks end before they begin
  std::string trace_path = {};
  std::string logs = {};    ///< as in JobOptions
  bool has_switch = false;  ///< as in DeviceCompany, if there is a choice
  bool is_by_pcie = false;  ///< as in DeviceCompany
  int small_rank = -1;      ///< the rank whose GPU has 2 multiprocessors
  int gpus = 0;             ///< GPUs that the ranks use round-robin; 0: one for each rank
  FaultPlan faults = {};    ///< as in JobOptions
  std::string dumps = {};   ///< as in JobOptions
};

/// One rank of the job.
struct ProcessRank {
  runtime::Communicator& communicator;
  DeviceUnderTest& device;
  int rank = 0;
};

/// Returns a maker of an executor over a device that the rank makes for itself.
ExecutorMaker executor_of(const ProcessJob& job, std::unique_ptr<DeviceUnderTest>& device);

/// Runs each rank as a process.
///
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

/// Makes the case's call, out of place, with buffers in the device's memory.
///
/// returns  the output
/// errors   as Communicator::run()
Result<std::vector<std::byte>> run_case(const ProcessRank& rank, const DeviceCase& test);

/// Like run_case(), in buffers of the caller, which must have room for the data.
Result<std::vector<std::byte>> run_case_in(const ProcessRank& rank, const DeviceCase& test,
                                           std::byte* in, std::byte* out);

/// Runs every case, one after the other.
///
/// expected  host_answers() of the cases
/// returns   1 if an output is not as expected, which is printed
Result<int> run_cases(const ProcessRank& rank, const std::vector<DeviceCase>& cases,
                      const std::vector<std::vector<std::vector<std::byte>>>& expected);

/// Returns the grid with integers, whose reductions do not depend on the order, and so not on how the two sides cut
/// their chunks.
std::vector<DeviceCase> integer_grid(int nranks, bool has_lines);

/// Returns a ring case with slots of 512 bytes.
DeviceCase all_reduce_case(int nranks, Protocol protocol, std::int64_t count);

}  // namespace ringside

#define EXPECT_ENDS_WELL(status)                                         \
  if (is_without_device(status)) GTEST_SKIP() << status.error().message; \
  ASSERT_TRUE(status) << status.error().message;                         \
  EXPECT_EQ(*status, 0)
