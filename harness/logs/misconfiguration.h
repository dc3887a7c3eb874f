#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "harness/logs/log_job.h"
#include "harness/logs/log_request.h"

namespace ringside {

/// What is wrong with a job, by which a reader of its log is judged.
struct LogTruth {
  struct Finding {
    std::string id;        ///< as the labelled logs have them: "socket_fallback"
    std::string severity;  ///< error, warn, info
    std::string why;
    std::vector<int> hosts = {};  ///< concerned; empty: all
  };
  std::string misconfiguration = {};  ///< empty: nothing is
  std::vector<Finding> findings = {};
  /// Ids that follow from it: naming them is right, leaving them out is no fault.
  std::vector<std::string> consequences = {};
};

struct Misconfiguration {
  std::string_view name;  ///< as on the command line
  std::string_view what;
};

/// Everything that can be wrong, in alphabetical order.
std::span<const Misconfiguration> misconfigurations();

/// Changes the job as the real cause would: its hosts, its variables, or what strikes it.
/// errors  InvalidArgument: an unknown name; the nearest is named.  Unsupported: these hosts, so many of
///         them, or that version cannot have it; with the reason
Result<LogTruth> misconfigure(std::string_view name, LogRequest& request);

/// Adds to the consequences what is so on such hosts anyway, and what a log alone cannot distinguish from a
/// fault: NICs too far from the GPUs for GPUDirect RDMA, nothing but Ethernet.
void add_nature(const LogJob& job, LogTruth& truth);

}  // namespace ringside
