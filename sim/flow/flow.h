#pragma once

#include "base/result.h"
#include "sim/simulate.h"

namespace ringside {

/// A call as flows: for jobs of which events would be too many.
///
/// One task and one line stand for all that are alike in a channel, one channel for all that are alike, links for
/// those that carry the same. Channels share the links as coupled flows (share_coupled()), which gives the least that
/// their bytes take. Then each line gets a rate of its own and the recorded steps run at these rates, one loop
/// through empty pipes, and loops until each takes as long as the one before. Lines that are alike are in step and
/// halve, third, .. what they share; others meet by chance, as often as they carry something: what an arriving
/// message finds there, as in mean-value analysis. Rates and times settle in turns.
///
/// Differs from events where lines that are not alike are in step all the same: docs/accuracy.md has by how much.
/// source  Schweitzer, Approximate analysis of multiclass closed networks of queues (1979), for what meets by chance
/// errors  as simulate_events(); InvalidArgument: a trace is asked for, an exchange of too many transfers
Result<SimResult> simulate_flows(const SimRequest& request);

}  // namespace ringside
