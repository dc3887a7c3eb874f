#pragma once

#include "engine/topology/paths/system.h"

namespace ringside {

// Which devices may talk to each other directly.

/// GPU `a` may copy to and from the memory of GPU `b`.
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoCheckP2p
bool may_p2p(const System& system, const TopologyParameters& parameters, int a, int b);

/// Both GPUs reach a NIC faster than each other, so that NCCL sends through the network even within
/// the host.
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoCheckNet
bool prefers_network(const System& system, const TopologyParameters& parameters, int a, int b);

/// The two share memory of the host, or the GPUs may copy, and the network is not preferred.
/// source  NCCL 2.30.7 transport/{p2p,shm}.cc: canConnect
bool may_connect_in_node(const System& system, const TopologyParameters& parameters, int a, int b);

/// The NIC may read (send side) or write (receive side) the GPU's memory.
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoCheckGdr
bool may_gdr(const System& system, const TopologyParameters& parameters, int gpu, int net,
             bool is_read);

/// The CPU with the fewest hops from a GPU; -1 without one.
/// source  NCCL 2.30.7 graph/paths.cc: ncclGetLocalCpu
int local_cpu(const System& system, int gpu, const TopologyRules& rules = {});

/// The GPU that a NIC serves: the first that would choose it for some channel; -1: none.
/// source  NCCL 2.30.7 graph/topo.cc: ncclTopoGetLocalGpu
int local_gpu(const System& system, int net, const TopologyParameters& parameters);

}  // namespace ringside
