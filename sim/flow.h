#pragma once

#include "base/result.h"
#include "sim/simulate.h"

namespace ringside {

/// As simulate_events(), but of a long call only the beginning: from when loop after loop takes as long as the one
/// before, the rest is so many loops more.
///
/// A call is cut to 16, 32, 64, ... loops until the time for each more changes twice by less than half a per cent, so the
/// filling and draining of pipelines, and what sharing links makes of them, are the events' own.
///
/// A part whose tasks of all ranks and channels take more than a million loops is not simulated: the pace is then that of
/// the longest that was.
///
/// errors  as simulate_events(); InvalidArgument: a trace is asked for
Result<SimResult> simulate_flows(const SimRequest& request);

/// simulate_events() where a call is short or a trace is asked for, else simulate_flows().
Result<SimResult> simulate_as_fits(const SimRequest& request);

}  // namespace ringside
