#pragma once

#include <functional>

#include "base/result.h"
#include "sim/flow/link_kinds.h"
#include "sim/simulate.h"

namespace ringside {

/// The time of a call's steps where too little is alike for events.
///
/// Channels share the links as coupled flows (share_coupled()), which gives the least that their bytes take. Then each line
/// gets a rate of its own and the recorded steps run at these rates, one loop through empty pipes, and loops until each takes
/// as long as the one before. Lines that are alike are in step and halve, third, .. what they share; others meet by chance, as
/// often as they carry something: what an arriving message finds there, as in mean-value analysis. Rates and times settle in
/// turns.
///
/// Differs from events where lines that are not alike are in step all the same: docs/lab/accuracy.md has by how much.
/// on_progress  receives the share that is done, 0 to 1
/// returns  without the launch
/// source   Schweitzer, Approximate analysis of multiclass closed networks of queues (1979), for what meets by chance
/// errors   as simulate_events()
Result<Seconds> time_by_chance(const SimRequest& request, const FlowKinds& kinds,
                               const std::function<void(double)>& on_progress);

}  // namespace ringside
