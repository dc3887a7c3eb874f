#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "harness/probe/machine.h"

/// A machine's description as the input of the engine's own functions.
namespace ringside::probe {

/// The variables that were read; an empty one counts as unset. The machine must outlive it.
Environment environment_of(const Machine& machine);

/// Empty: not set.
std::string variable(const Machine& machine, const char* name);

/// Whether a port of RDMA is active.
bool has_active_port(const Machine& machine);

std::vector<ringside::RdmaPort> ports_of(const Machine& machine);

/// The GIDs that RoCE makes of this network namespace's addresses.
std::vector<Gid> own_gids(const Machine& machine);

}  // namespace ringside::probe
