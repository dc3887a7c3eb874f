#pragma once

#include <memory>

#include "sim/fabric/fabric.h"

namespace ringside {

/// Leaves, and what joins them: nothing (one switch), spines (two tiers), or spines in pods, which cores join (a fat
/// tree) or cables from group to group (dragonfly+).
///
/// Leaf    the NICs of `hosts_per_leaf` hosts; with rails of one NIC each
/// Plane   what is joined: all; with rails alone one a rail
/// Up      a leaf's links up go to the spines of its pod round-robin; a spine's to cores of its own
/// Groups  of a dragonfly+ are joined pair by pair by equally many cables, spread over their spines
///         source  Shpiner et al., Dragonfly+: Low Cost Topology for Scaling Datacenters, HiPINEB 2017; minimal routes
///
/// errors  Corrupt: counts that do not go together, more switches or links than can be
Result<std::unique_ptr<const Fabric>> make_clos(FabricSettings settings,
                                                std::vector<FabricHosts> hosts);

}  // namespace ringside
