#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/model/job.h"
#include "study/scenario/scenario_run.h"

namespace ringside::gui {

/// A trace of calls alone, in memory, and what is known of them in addition to their times.
struct CallTrace {
  static constexpr std::int64_t kForever = INT64_MAX;

  std::vector<std::byte> bytes;
  /// [event]: until when the call waited for ranks that had not arrived; kForever: it still waits.
  std::vector<std::int64_t> waits_until;
  std::vector<std::string> communicators;  ///< their names
};

/// The calls of Flight Recorder dumps: each lasts until the rank made its next one in the same group; pending calls
/// last to the end. Groups are communicators in the order of their numbers, followed by one more for each group's
/// sends and receives. Times are each host's own; a call of a rank is never shown before the one it made earlier.
Result<CallTrace> trace_of(const hang::Job& job);

/// The calls of a simulated run, from when a rank's stream reached one until it ended.
Result<CallTrace> trace_of(const study::ScenarioOutcome& outcome);

}  // namespace ringside::gui
