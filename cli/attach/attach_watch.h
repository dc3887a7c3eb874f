#pragma once

#include <string>

#include "base/result.h"
#include "harness/attach/gather.h"
#include "ringside/units.h"

namespace ringside::cli {

/// How a job is watched.
struct WatchSettings {
  attach::Request request;
  Seconds longest{0};   ///< 0: until the job ends
  std::string metrics;  ///< a file, or `:PORT` of loopback (0: any free port); empty: none
  bool is_json = false;
};

/// Queries the job at an interval, and prints a line when its state changes: it moves, it hangs (with the verdict), it
/// has ended. Between queries it also prints the events of RAS, if the service has them: at most 20 per interval.
///
/// returns  kFinding: the job hung when the watch ended; else kFine
/// errors   InvalidArgument: `metrics` names no port, or the request has no services.  System: metrics cannot be
///          written.  Until the first report, also those of RasClient::status()
Result<int> watch_job(const WatchSettings& settings);

}  // namespace ringside::cli
