#pragma once

#include "sim/simgrid/caller.h"

namespace ringside {

/// simulate() in this very process, which must not have simulated before and should end soon after.
/// caller  has the network, and takes progress and trace
Result<SimResult> run_engine(WireJob job, Caller& caller);

}  // namespace ringside
