#pragma once

#include "sim/simulate.h"

namespace ringside {

/// As simulate(), without SimGrid: the recorded programs on a loop of our own. What a step costs, the slots, and
/// max-min fair shares of the links are the same. A strand's clock runs ahead of the others' until it waits for a
/// message, a slot, or a link that others use too; where no link is shared nothing is ever looked up by time.
///
/// Threads  any, each call for itself
/// errors   as simulate(), but for those of the simulating process
Result<SimResult> simulate_events(const SimRequest& request);

}  // namespace ringside
