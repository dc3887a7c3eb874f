#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "harness/probe/machine.h"

/// Converts a machine's description to inputs of the engine's functions.
namespace ringside::probe {

/// Returns the machine's variables; an empty value counts as unset.  Ownership  the machine
/// outlives the result
Environment environment_of(const Machine& machine);

/// Returns the value of a variable; empty: not set.
std::string variable(const Machine& machine, const char* name);

/// Returns true if an RDMA port is active.
bool has_active_port(const Machine& machine);

std::vector<ringside::RdmaPort> ports_of(const Machine& machine);

/// Returns the GIDs that RoCE derives from the addresses of this network namespace.
std::vector<Gid> own_gids(const Machine& machine);

}  // namespace ringside::probe
