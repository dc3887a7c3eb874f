#pragma once

#include "base/result.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// Computes all paths from the links alone, replacing earlier paths.
/// errors  InvalidArgument: a path that goes one way only
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoSetPaths
Status find_paths(System& system, const TopologyParameters& parameters);

/// Replaces what may not be used directly: pairs of GPUs go through a CPU, or count as on separate hosts (type
/// Net); GPUs reach far NICs through the GPU next to it (PXN); NICs that cannot read or write GPU
/// memory go through a CPU. Then notes the GPU that each NIC serves.
/// shape   find_paths was called
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoComputePaths
void adjust_paths(System& system, const TopologyParameters& parameters);

/// Returns the path from `from` to `to`, for modification.
Path& path_of(System& system, NodeRef from, NodeRef to);

}  // namespace ringside
