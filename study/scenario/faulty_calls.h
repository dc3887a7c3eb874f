#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/verdict/verdict.h"
#include "engine/faults/fault.h"
#include "ringside/units.h"
#include "study/simulation.h"

/// Planned faults in simulated calls.
namespace ringside::study {

struct FaultQuestion {
  FaultPlan plan = {};      ///< the whole job is `on: 0`, as in real runs
  int iterations = 20;      ///< calls of each size, one after the other, counted over all sizes
  Seconds patience{60};     ///< a call without progress for so long has failed
  std::string folder = {};  ///< for the dumps and logs of a hang: none, or an empty one
};

/// The calls of one size, under faults.
struct FaultyCalls {
  int completed = 0;
  Seconds
      median{};  ///< of those that completed, from the first rank's coming to the last one's end
  Seconds slowest{};
  int slowest_call = -1;  ///< its number in the job, from 0 on
};

struct FaultyJob {
  FaultPlan drawn;
  std::vector<FaultyCalls> sizes;  ///< as the plan of the simulation has them
  std::optional<hang::Explanation> verdict =
      {};  ///< of a hang: the verdict of `ringside hang` on its evidence
  std::vector<std::string> notes = {};  ///< faults of the plan that never fired
};

/// Checks everything that can be checked before simulating.
/// errors  InvalidArgument: a rank that does not exist, faults of calls that programs cannot express, too many calls,
///         a
///         folder that holds anything
Status check_faults(const SimPlan& plan, const FaultQuestion& question);

/// Plays the calls, all ranks in step with each other, with their undisturbed times. A slow connection carries the
/// data that the algorithm sends on it.
/// rows    of the plan's sizes, undisturbed
/// errors  as check_faults(), plan_faults(); System: the dumps cannot be written
Result<FaultyJob> play_faults(const SimPlan& plan, const std::vector<SimRow>& rows,
                              const FaultQuestion& question);

}  // namespace ringside::study
