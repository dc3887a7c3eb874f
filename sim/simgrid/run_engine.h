#pragma once

#include "sim/simgrid/caller.h"

namespace ringside {

/// Runs a simulation in this process, which must not have simulated before and should end soon
/// after.
/// caller  provides the network, and receives progress and trace
/// errors  Timeout: the simulated call is stuck.  Corrupt: its steps do not fit together.  System: SimGrid failed.
///         Those of the network
Result<SimResult> run_engine(WireJob job, Caller& caller);

}  // namespace ringside
