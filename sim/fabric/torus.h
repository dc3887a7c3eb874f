#pragma once

#include <memory>

#include "sim/fabric/fabric.h"

namespace ringside {

/// Builds a torus: one router per host in a grid whose rows close to rings. Hosts are numbered
/// along the first dimension first. Routes go dimension by dimension, in the shorter direction; the
/// flow's hash decides between equal lengths. If a link on the route is down, routing tries another
/// order of dimensions or the other direction.
///
/// settings  without rails, which the reader of cluster files refuses for a torus
/// errors    Corrupt: more hosts than routers, too many routers, adaptive routing
Result<std::unique_ptr<const Fabric>> make_torus(FabricSettings settings,
                                                 std::vector<FabricHosts> hosts);

}  // namespace ringside
