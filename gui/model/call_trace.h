#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/model/job.h"
#include "study/scenario/scenario_run.h"

namespace ringside::gui {

/// A trace of calls alone, in memory, and what is known of them beside their times.
struct CallTrace {
  static constexpr std::int64_t kForever = INT64_MAX;

  std::vector<std::byte> bytes;
  /// [event]: until when the call stood still, for others that had not come; kForever: to this day.
  std::vector<std::int64_t> waits_until;
  std::vector<std::string> communicators;  ///< their names
};

/// The calls of Flight Recorder dumps: from when a rank made a call until it made its next one in the same group; what had
/// not ended lasts to the end of all. Groups are communicators in the order of their numbers, and behind them once more for
/// their sends and receives.
/// Times are each host's own; a call of a rank is never shown before the one it made earlier.
Result<CallTrace> trace_of(const hang::Job& job);

/// The calls of a simulated run, from when a rank's stream reached one until it was over.
Result<CallTrace> trace_of(const study::ScenarioOutcome& outcome);

}  // namespace ringside::gui
