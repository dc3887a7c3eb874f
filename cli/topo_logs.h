#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/job_options.h"

namespace CLI {
class App;
}

namespace ringside::cli {

/// `topo --logs`: the debug log that NCCL would write on every rank of the job.
struct LogOptions {
  std::string folder;  ///< empty: no log is wanted
  std::string version = "2.30";
  std::string misconfiguration;
  std::string subsystems;   ///< as NCCL_DEBUG_SUBSYS
  bool interleave = false;  ///< one file of all ranks
  int repeat = 0;
  int calls = 0;
  std::uint64_t seed = 1;
};

void add_log_options(CLI::App& app, LogOptions& options);

/// Writes the logs and truth.json, and says on stdout what.
/// errors  as job_of(), misconfigure(), write_log_files(); InvalidArgument: a version or subsystem that
///         is none
Status write_logs(const JobOptions& job, const LogOptions& options);

}  // namespace ringside::cli
