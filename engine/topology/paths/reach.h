#pragma once

#include "engine/topology/paths/system.h"

namespace ringside {

// Which devices may talk to each other directly.

/// Returns whether GPU `a` may copy to and from the memory of GPU `b`.
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoCheckP2p
bool may_p2p(const System& system, const TopologyParameters& parameters, int a, int b);

/// Returns whether both GPUs reach a NIC faster than each other, so that NCCL uses the network even within the host.
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoCheckNet
bool prefers_network(const System& system, const TopologyParameters& parameters, int a, int b);

/// Returns whether the GPUs may use shared memory of the host or P2P, and do not prefer the network.
/// source  NCCL 2.30.7 transport/{p2p,shm}.cc: canConnect
bool may_connect_in_node(const System& system, const TopologyParameters& parameters, int a, int b);

/// Returns whether the NIC may read (to send) or write (to receive) the GPU's memory.
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoCheckGdr
bool may_gdr(const System& system, const TopologyParameters& parameters, int gpu, int net,
             bool is_read);

/// Returns the CPU with the fewest hops from a GPU; -1: none.
/// source  NCCL 2.30.7 graph/paths.cc: ncclGetLocalCpu
int local_cpu(const System& system, int gpu, const TopologyRules& rules = {});

/// Returns the GPU that a NIC serves: the first one that would choose it for a channel; -1: none.
/// source  NCCL 2.30.7 graph/topo.cc: ncclTopoGetLocalGpu
int local_gpu(const System& system, int net, const TopologyParameters& parameters);

}  // namespace ringside
