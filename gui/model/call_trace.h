#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/model/job.h"
#include "study/scenario/scenario_run.h"

namespace ringside::gui {

/// A trace of calls without steps, in memory, with additional data about the calls.
struct CallTrace {
  static constexpr std::int64_t kForever = INT64_MAX;

  std::vector<std::byte> bytes;
  /// By event: time until which the call waited for ranks that had not arrived; kForever: it still
  /// waits.
  std::vector<std::int64_t> waits_until;
  std::vector<std::string> communicators;  ///< names by number
  /// Time at which calls that never ended are shown to end; no other call ends then.
  std::int64_t endless_ns = 0;
};

/// Makes a trace of Flight Recorder dumps. A call lasts until the rank's next call in the same
/// group; pending calls last to the end. Communicators are the groups in the order of their
/// numbers, then one more per group for its sends and receives. Times are each host's own; calls of
/// a rank are shown in the order in which it made them.
/// errors  System: the trace cannot be recorded in memory
Result<CallTrace> trace_of(const hang::Job& job);

/// Makes a trace of a simulated run. A call lasts from its start on the rank's stream to its end.
/// errors  as above
Result<CallTrace> trace_of(const study::ScenarioOutcome& outcome);

}  // namespace ringside::gui
