#pragma once

#include "engine/topology/host.h"
#include "engine/topology/parameters.h"

namespace ringside {

/// NIC fusion: combines network devices of a host into virtual devices with the sum of their rates, as NCCL does.
///
/// In the order of device numbers, each device is combined with later ones that are close enough for the level, up to
/// the release's limit. Without NCCL_NET_MERGE_LEVEL, only ports of one card are combined.
/// source  NCCL 2.30.7 graph/topo.cc: ncclTopoMakeVNics, ncclTopoAutoMerge
void merge_nets(Host& host, const TopologyParameters& parameters);

}  // namespace ringside
