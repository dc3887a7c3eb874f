#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "harness/logs/log_job.h"
#include "harness/logs/misconfiguration.h"

namespace ringside {

struct LogFiles {
  int files = 0;
  std::uint64_t lines = 0, bytes = 0;
};

/// How far the writing is: phases or processes that are done, of all.
using LogProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Writes the log of every process into a file of its own, `nccl.HOST.PID.log`, as
/// NCCL_DEBUG_FILE=nccl.%h.%p.log does. The folder is made where it is not there.
/// errors  as make_empty_folder(): one that holds anything is refused.  System: it cannot be written
Result<LogFiles> write_log_files(const LogJob& job, const std::string& folder,
                                 const LogProgress& progress = {});

/// Writes all logs into one file, `job.log`, as a launcher that collects the ranks' output does: lines
/// whole, a few of one process at a time, in an order that the seed decides. Holds the lines of at most
/// 1,024 processes in one phase at a time.
/// errors  as write_log_files()
Result<LogFiles> write_joined_log(const LogJob& job, const std::string& folder,
                                  const LogProgress& progress = {});

/// Writes `truth.json`: the job's faults, in the words of the labelled logs.  shape  the folder exists
/// errors  System: it cannot be written
Status write_truth(const LogJob& job, const LogTruth& truth, const std::string& folder);

/// The same text as one string, for small jobs.
std::string joined_log(const LogJob& job);

}  // namespace ringside
