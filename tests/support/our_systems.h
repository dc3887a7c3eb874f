#pragma once

#include "base/json.h"
#include "engine/topology/paths/system.h"

namespace ringside::oracle {

/// Returns one kind of node after paths and trimming, in the form of `systems[].topo`.
Json topo_of(const System& system);

/// Returns the name of a network device in a graph: a number, and within an NVLink domain the host and a number.
Json net_name(const System& system, int net);

}  // namespace ringside::oracle
