#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "harness/logs/log_job.h"

namespace ringside {

/// Counts of the files, lines and bytes that were written.
struct WrittenLogs {
  int files = 0;
  std::uint64_t lines = 0, bytes = 0;
};

/// Receives the progress: completed phases or processes, and their total.
using LogProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Writes the log of every process to a file `nccl.HOST.PID.log`, as with
/// NCCL_DEBUG_FILE=nccl.%h.%p.log. Creates the folder.
/// The log of LogRequest::missing_log is omitted.
/// errors  as make_empty_folder(): the folder is not empty.  System: a file cannot be written; names it
Result<WrittenLogs> write_log_files(const LogJob& job, const std::string& folder,
                                    const LogProgress& progress = {});

/// Writes all logs to one file, `job.log`, as a launcher does that collects the output of ranks:
/// whole lines, a few of one process at a time, in an order by the seed. Buffers the lines of at
/// most 1,024 processes in one phase.
/// errors  as write_log_files()
Result<WrittenLogs> write_joined_log(const LogJob& job, const std::string& folder,
                                     const LogProgress& progress = {});

/// Returns the text of `job.log` in one string, for small jobs.
std::string joined_log(const LogJob& job);

}  // namespace ringside
