#pragma once

#include "engine/channels/connect.h"
#include "engine/channels/parameters.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// Searches a node, and sums up for the rest of the job what its ranks need to know of it.
///
/// given   graphs that are not to be searched; see search_graphs
/// shape   the system has a GPU
/// source  NCCL 2.30.7 init.cc: what each rank contributes to the second all-gather
NodeReport report_on(const System& system, const TopologyParameters& topology,
                     const ChannelParameters& channels, const Graphs& given = {});

}  // namespace ringside
