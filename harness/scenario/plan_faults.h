#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/faults/fault.h"
#include "harness/hangs/player.h"
#include "harness/hangs/program.h"

namespace ringside {

/// What a rank sends in a call on one of its connections.
struct SentOn {
  int to = 0;  ///< rank of the job
  int channel = 0;
  Bytes bytes;
  std::int64_t messages = 0;
};

/// All that rank `from` sends in a call, as far as it is known. Empty: the call's bytes in one message to
/// each other rank, where nothing is known.
using SendsOf = std::function<std::vector<SentOn>(const hangs::Step& call, int from)>;

/// Connections that carry less.
struct SlowConnections {
  Fault fault;
  int family = -1;  ///< of the groups that it is on; -1: of all
};

/// What a plan makes of a program that is played in simulated time.
struct PlannedFaults {
  hangs::NetworkFault network = {};  ///< group -1: none
  std::vector<SlowConnections> slow = {};
  std::vector<std::string> idle = {};  ///< faults that never fire: a sentence each
};

/// Edits the program by the plan's faults of its ranks: each call is matched as on a real rank
/// (engine/faults/rank_faults.h). Groups' names in the plan are those of the outline.
///
/// plan      drawn
/// patience  a delay of at least this is endless: the watchdog ends the job by then; none: no watchdog
/// sends     of the program's calls as they were before
/// errors    InvalidArgument: several connections that fail, or one that no collective uses; one that is slow from some
///           message on; a collective that programs have no word for
Result<PlannedFaults> plan_faults(const FaultPlan& plan, hangs::Program& program,
                                  std::optional<Seconds> patience = {}, const SendsOf& sends = {});

/// What such a collective takes at least, over slow connections.
/// sends  as plan_faults() had it
Seconds slowed(const std::vector<SlowConnections>& slow, const hangs::Step& call,
               const hangs::Group& group, const SendsOf& sends = {});

/// The same of what one rank of the job sends to another at once.
Seconds slowed_transfer(const std::vector<SlowConnections>& slow, const hangs::Step& send,
                        const hangs::Group& group, int from, int to);

}  // namespace ringside
