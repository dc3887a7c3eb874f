#pragma once

#include "base/json.h"
#include "engine/topology/paths/system.h"

namespace ringside::oracle {

/// One kind of node after paths and trimming, as `systems[].topo`.
Json topo_of(const System& system);

/// How a graph names a network device: by number, and within an NVLink domain by host and number.
Json net_name(const System& system, int net);

}  // namespace ringside::oracle
