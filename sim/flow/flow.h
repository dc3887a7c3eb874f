#pragma once

#include "base/result.h"
#include "sim/simulate.h"

namespace ringside {

/// Simulates a call as flows: for jobs with too many events.
///
/// One task and one line represent all that are alike in a channel, one channel all that are alike, links all
/// that carry the same. Where few kinds are left, their steps are taken by events until each loop takes as long
/// as the one before (time_by_kinds()): the time is that of simulate_events(), but for that pace. Else lines meet by
/// chance (time_by_chance()). Of exchanges with very many transfers the busiest link and the longest chain are summed up
/// (sum_exchange()).
///
/// errors  as simulate_events(); InvalidArgument: a trace is asked for, an exchange of too many transfers
Result<SimResult> simulate_flows(const SimRequest& request);

}  // namespace ringside
