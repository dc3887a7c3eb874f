#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "harness/logs/log_job.h"
#include "harness/logs/log_request.h"

namespace ringside {

/// The faults of a job, to judge a diagnosis of its log.
struct LogTruth {
  struct Finding {
    std::string id;        ///< as in the labelled logs: "socket_fallback"
    std::string severity;  ///< error, warn, info
    std::string why;
    std::vector<int> hosts = {};  ///< affected hosts; empty: all
  };
  std::string misconfiguration = {};  ///< empty: no misconfiguration
  std::vector<Finding> findings = {};
  /// Ids that follow from the fault: reporting them is correct, and omitting them, too.
  std::vector<std::string> consequences = {};
};

/// A named misconfiguration.
struct Misconfiguration {
  std::string_view name;  ///< as on the command line
  std::string_view what;
};

/// Returns all misconfigurations, in alphabetical order.
std::span<const Misconfiguration> misconfigurations();

/// Applies the cause of a misconfiguration to the job: to its hosts, variables or incident.
/// errors  InvalidArgument: unknown name; the message suggests the nearest one.  Unsupported: these
///         hosts, their number, or the version cannot have it; with the reason
Result<LogTruth> misconfigure(std::string_view name, LogRequest& request);

/// Adds consequences that hold on such hosts without a fault, if a log alone cannot distinguish
/// them from one: NICs too far from the GPUs for GPUDirect RDMA, only Ethernet.
void add_nature(const LogJob& job, LogTruth& truth);

}  // namespace ringside
