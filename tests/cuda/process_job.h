#pragma once

#include <functional>
#include <string>

#include "harness/job.h"
#include "tests/cuda/device_under_test.h"

namespace ringside {

/// Ranks that are processes of this host, each with a device and kernels of its own.
struct ProcessJob {
  int nranks = 3;
  std::string transport = {};  ///< between them; empty: the fastest
  bool shares_memory = false;  ///< as DeviceCompany has it, where there is a choice
  bool opens_memory = true;    ///< whether it may be opened where it could be
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

/// errors  as run_job(); Unsupported: there is no device for it
Result<int> run_processes(const ProcessJob& job,
                          const std::function<Result<int>(const ProcessRank& rank)>& main);

/// Calls what the case says, out of place, on buffers in the device's memory.
/// returns  the output
/// errors   as Communicator::run()
Result<std::vector<std::byte>> run_case(const ProcessRank& rank, const DeviceCase& test);

}  // namespace ringside
