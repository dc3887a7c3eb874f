#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/verdict/verdict.h"
#include "engine/faults/fault.h"
#include "ringside/units.h"
#include "study/simulation.h"

/// Simulates calls with planned faults.
namespace ringside::study {

/// The faults under which calls are simulated.
struct FaultQuestion {
  FaultPlan plan = {};   ///< use `on: 0` for faults of the whole job, as in real runs
  int iterations = 20;   ///< calls of each size; call numbers run over all sizes
  Seconds patience{60};  ///< watchdog timeout: a call without progress for this time fails
  /// Output folder for dumps and logs of a hang; must be empty or not exist; empty text: a temporary one.
  std::string folder = {};
};

/// The times of the calls of one size.
struct FaultyCalls {
  int completed = 0;
  /// Median over the completed calls, from the first rank's entry to the last rank's exit.
  Seconds median{};
  Seconds slowest{};
  int slowest_call = -1;  ///< number of the slowest call in the job, from 0; -1: none completed
};

/// The results of calls under faults.
struct FaultyJob {
  /// The plan with its random choices made.
  FaultPlan drawn;
  std::vector<FaultyCalls> sizes;  ///< in the order of the plan's sizes
  /// Only after a hang: the verdict of `ringside hang` on its evidence.
  std::optional<hang::Explanation> verdict = {};
  std::vector<std::string> notes = {};  ///< texts about faults that never fired
};

/// Checks a question before the simulation, which may take long, and makes its folder.
/// errors  InvalidArgument: a rank that does not exist, faults of calls that programs cannot express, too many calls.
///         As make_empty_folder()
Status prepare_faults(const SimPlan& plan, const FaultQuestion& question);

/// Simulates the calls with faults. All ranks make the calls in lockstep, and each call takes the
/// time of its row. A slow connection delays the data that the algorithm sends on it. The folder gets dumps and logs
/// only after a hang.
/// rows    simulated rows of the plan without faults
/// errors  as prepare_faults(), plan_faults(); System: the dumps cannot be written
Result<FaultyJob> play_faults(const SimPlan& plan, const std::vector<SimRow>& rows,
                              const FaultQuestion& question);

}  // namespace ringside::study
