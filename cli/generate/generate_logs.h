#pragma once

#include <cstdint>
#include <string>

#include "cli/job_options.h"
#include "cli/verb.h"
#include "engine/releases/releases.h"

namespace ringside::cli {

class Options;

/// The options of `ringside generate logs`.
struct LogOptions {
  std::string folder;  ///< -o
  JobOptions job;
  std::string version{kDefaultRelease};
  std::string misconfiguration;
  std::string subsystems;   ///< as in NCCL_DEBUG_SUBSYS
  bool interleave = false;  ///< one file of all ranks
  int repeat = 0;
  int calls = 0;
  std::uint64_t seed = 1;
  bool json = false;
};

/// Adds the options that fill `options`, which must outlive the parsing.
void add_log_options(Options& app, LogOptions& options);

/// Writes the debug log of every rank of the job, as NCCL would, and truth.json next to them; prints a summary on
/// stdout.
/// errors  as study::load_job_hosts(), misconfigure(), write_log_files(); InvalidArgument: no folder, or an unknown
///         version or subsystem
VerbResult generate_logs(const LogOptions& options);

}  // namespace ringside::cli
