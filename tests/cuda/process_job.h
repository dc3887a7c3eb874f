#pragma once

#include <functional>
#include <string>

#include "engine/cuda/process_links.h"
#include "harness/job.h"
#include "tests/cuda/device_under_test.h"

namespace ringside {

/// Ranks with a device and launches of their own each: processes of this host, or threads.
struct ProcessJob {
  int nranks = 3;
  std::string transport = {};  ///< between them; empty: the fastest
  bool shares_memory = false;  ///< as DeviceCompany has it, where there is a choice
  MemoryWish memory = {};      ///< what of that is used
  Seconds op_timeout{20};      ///< processes that share cores take their time
  int dead_rank = -1;          ///< whose blocks end before they begin
  std::string trace_path = {};
};

/// One rank's part.
struct ProcessRank {
  Communicator& communicator;
  DeviceUnderTest& device;
  int rank = 0;
};

/// An executor over a device of the rank's own, which it makes.
ExecutorMaker executor_of(const ProcessJob& job, std::unique_ptr<DeviceUnderTest>& device);

/// Each rank a process.
/// errors  as run_job(); Unsupported: there is no device for it
Result<int> run_processes(const ProcessJob& job,
                          const std::function<Result<int>(const ProcessRank& rank)>& main);

/// Calls what the case says, out of place, on buffers in the device's memory.
/// returns  the output
/// errors   as Communicator::run()
Result<std::vector<std::byte>> run_case(const ProcessRank& rank, const DeviceCase& test);

}  // namespace ringside
