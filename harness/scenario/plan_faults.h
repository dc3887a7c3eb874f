#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/faults/fault.h"
#include "harness/hangs/player.h"
#include "harness/hangs/program.h"

namespace ringside {

/// What a plan makes of a program that is played in simulated time.
struct PlannedFaults {
  hangs::NetworkFault network = {};    ///< group -1: none
  std::vector<Fault> slow = {};        ///< connections that carry less
  std::vector<std::string> idle = {};  ///< faults that nothing comes to: a sentence each
};

/// Edits the program by what the plan says of its ranks: each call is asked for as a real rank asks
/// (engine/faults/rank_faults.h). Groups' names in the plan are those of the outline.
///
/// plan      drawn
/// patience  what lasts as long is for ever: by then the job is given up; none: nobody gives it up
/// errors    InvalidArgument: faults of several connections, or of one that no collective uses
Result<PlannedFaults> plan_faults(const FaultPlan& plan, hangs::Program& program,
                                  std::optional<Seconds> patience = {});

/// What slow connections add to a call of such a group.
Seconds slowed(const std::vector<Fault>& slow, const hangs::Step& call, const hangs::Group& group);

}  // namespace ringside
