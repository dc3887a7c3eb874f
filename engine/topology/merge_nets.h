#pragma once

#include "engine/topology/host.h"
#include "engine/topology/parameters.h"

namespace ringside {

/// NIC fusion: network devices of a host that NCCL joins to one virtual device, which has all their rates.
///
/// Each device, in the order of their numbers, joins with the later ones that are as near as the level asks, up to the
/// release's limit. Without NCCL_NET_MERGE_LEVEL only ports of one card join.
/// source  NCCL 2.30.7 graph/topo.cc: ncclTopoMakeVNics, ncclTopoAutoMerge
void merge_nets(Host& host, const TopologyParameters& parameters);

}  // namespace ringside
