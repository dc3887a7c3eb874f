#pragma once

#include <memory>

#include "sim/fabric/fabric.h"

namespace ringside {

/// A router for each host, in a grid whose rows close to rings; hosts are numbered along the first dimension first.
/// Messages go dimension by dimension, the shorter way round; where both are as short, by the flow's hash. Where that
/// meets a link that is down, another order of dimensions or the other way round is taken.
///
/// errors  Corrupt: more hosts than routers, more routers than can be, adaptive routing, rails
Result<std::unique_ptr<const Fabric>> make_torus(FabricSettings settings,
                                                 std::vector<FabricHosts> hosts);

}  // namespace ringside
