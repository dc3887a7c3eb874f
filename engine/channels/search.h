#pragma once

#include "engine/channels/graph.h"
#include "engine/channels/parameters.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// The graph to search for in one node, and its limits.
struct SearchRequest {
  GraphId id = GraphId::Ring;
  Pattern pattern = Pattern::Ring;
  bool is_collnet = false;
  int min_channels = 1;
  int max_channels = 32;
};

/// Returns the fastest set of channels that the node's links can carry together, as found by NCCL's search. It stops
/// after the same number of steps as NCCL's, so that large NVLink domains give the same result.
/// returns  nchannels is 0 if NVLS or CollNet is not possible; rings and trees always have a channel
/// source   NCCL 2.30.7 graph/search.cc: ncclTopoCompute
Graph search_graph(const System& system, const TopologyParameters& topology,
                   const ChannelParameters& channels, const SearchRequest& request);

/// Returns all five graphs of a node, each searched within NCCL's limits.
/// given     graphs of a file (NCCL_GRAPH_FILE); those with channels are used unchanged, except one with cross_nic 1 if
///           NCCL_CROSS_NIC is 0
/// has_nvls  the job may use NVLS
/// source    NCCL 2.30.7 init.cc: initTransportsRank; graph/search.cc: ncclTopoCompute
Graphs search_graphs(const System& system, const TopologyParameters& topology,
                     const ChannelParameters& channels, bool has_nvls, const Graphs& given = {});

}  // namespace ringside
