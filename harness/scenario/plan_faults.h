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

/// The data that a rank sends on one of its connections during a call.
struct SentOn {
  int to = 0;  ///< rank of the job
  int channel = 0;
  Bytes bytes;
  std::int64_t messages = 0;
};

/// Returns the known sends of rank `from` in a call. An empty result means: the call's bytes in one
/// message to each other rank.
using SendsOf = std::function<std::vector<SentOn>(const hangs::Step& call, int from)>;

/// Connections that carry less.
struct SlowConnections {
  Fault fault;
  int family = -1;  ///< family of the affected groups; -1: all
};

/// The effects of a fault plan on a simulated program, other than edits of its steps.
struct PlannedFaults {
  hangs::NetworkFault network = {};  ///< group -1: no fault
  std::vector<SlowConnections> slow = {};
  std::vector<std::string> idle = {};  ///< a sentence for each fault without effect
};

/// Edits the program by the plan's faults. Calls are matched as on a real rank
/// (engine/faults/rank_faults.h). The plan names groups as the outline does.
///
/// plan      a plan whose random choices are drawn
/// patience  watchdog timeout: a delay of at least this is endless; none: no watchdog
/// sends     sends of the unedited program
/// errors    InvalidArgument: several failing connections, or one that no collective uses; a
///           connection that is slow only from some message on; a collective that programs cannot
///           express; groups that the program does not have
Result<PlannedFaults> plan_faults(const FaultPlan& plan, hangs::Program& program,
                                  std::optional<Seconds> patience = {}, const SendsOf& sends = {});

/// Returns the minimum duration of a collective over slow connections.
/// sends  as passed to plan_faults()
Seconds slowed(const std::vector<SlowConnections>& slow, const hangs::Step& call,
               const hangs::Group& group, const SendsOf& sends = {});

/// Returns the minimum duration of one rank's combined send to another over slow connections.
Seconds slowed_transfer(const std::vector<SlowConnections>& slow, const hangs::Step& send,
                        const hangs::Group& group, int from, int to);

}  // namespace ringside
