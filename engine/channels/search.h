#pragma once

#include "engine/channels/graph.h"
#include "engine/channels/parameters.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// What to look for in one node.
struct SearchRequest {
  GraphId id = GraphId::Ring;
  Pattern pattern = Pattern::Ring;
  bool is_collnet = false;
  int min_channels = 1;
  int max_channels = 32;
};

/// The fastest set of channels that the node's links carry together, as NCCL's search finds it: it
/// stops after as many steps as NCCL's does, so that large NVLink domains give the same answer.
/// returns  nchannels 0 for NVLS and CollNet where there is none; for rings and trees always one
/// source   NCCL 2.30.7 graph/search.cc: ncclTopoCompute
Graph search_graph(const System& system, const TopologyParameters& topology,
                   const ChannelParameters& channels, const SearchRequest& request);

/// All five graphs of a node, each within the bounds that NCCL searches it with.
/// given     graphs of a file (NCCL_GRAPH_FILE), each taken as it is where it has channels; one that may
///           always cross NICs (1) is not taken where NCCL_CROSS_NIC is 0
/// has_nvls  the job may use NVLS
/// source    NCCL 2.30.7 init.cc: initTransportsRank; graph/search.cc: ncclTopoCompute
Graphs search_graphs(const System& system, const TopologyParameters& topology,
                     const ChannelParameters& channels, bool has_nvls, const Graphs& given = {});

}  // namespace ringside
