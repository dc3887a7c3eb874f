#pragma once

#include "engine/channels/connect.h"
#include "engine/channels/parameters.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// Searches a node, and summarizes it for the other nodes of the job.
///
/// given   graphs to use instead of a search; see search_graphs()
/// shape   the system has a GPU
/// source  NCCL 2.30.7 init.cc: what each rank contributes to the second all-gather
NodeReport report_on(const System& system, const TopologyParameters& topology,
                     const ChannelParameters& channels, const Graphs& given = {});

}  // namespace ringside
