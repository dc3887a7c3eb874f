#pragma once

#include "base/result.h"
#include "sim/simulate.h"

namespace ringside {

/// Simulates a call as flows. It serves jobs with too many events for simulate_events().
///
/// One task, line, channel or link represents all equivalent ones. If few classes remain, an event
/// simulation runs their steps until each loop takes as long as the one before, and extrapolates
/// (time_by_kinds()). Otherwise the time is estimated with lines that meet at random
/// (time_by_chance()). The time of an exchange with very many transfers is computed from the
/// busiest link and the longest chain (sum_exchange()).
///
/// errors   as simulate_events(); InvalidArgument: a trace is requested, or an exchange has too
///          many ranks
Result<SimResult> simulate_flows(const SimRequest& request);

}  // namespace ringside
