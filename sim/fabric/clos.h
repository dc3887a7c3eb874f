#pragma once

#include <memory>

#include "sim/fabric/fabric.h"

namespace ringside {

/// Builds a fabric of leaf switches. The leaves are joined by nothing (one switch), by spines (two
/// tiers), by spines in pods with core switches above (fat tree), or by spines in groups with
/// cables between the groups (dragonfly+).
///
/// Leaf    switch of `hosts_per_leaf` hosts: of all their NICs, or with rails of one NIC per host
/// Plane   set of leaves that are joined: all leaves; with rails "only" one plane per rail
/// Up      the uplinks of a leaf go to the spines of its pod round-robin; each spine has its own
///         core switches
/// Groups  each pair of dragonfly+ groups has equally many cables, spread over the spines; minimal routes
///
/// source  Shpiner et al., Dragonfly+: Low Cost Topology for Scaling Datacenters, HiPINEB 2017
/// errors  Corrupt: inconsistent counts; too many switches or links
Result<std::unique_ptr<const Fabric>> make_clos(FabricSettings settings,
                                                std::vector<FabricHosts> hosts);

}  // namespace ringside
