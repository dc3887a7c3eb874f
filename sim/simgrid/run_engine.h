#pragma once

#include "sim/simgrid/caller.h"

namespace ringside {

/// Runs a simulation in this process, which must not have simulated before and should end soon
/// after.
/// caller  provides the network, and receives progress and trace
Result<SimResult> run_engine(WireJob job, Caller& caller);

}  // namespace ringside
