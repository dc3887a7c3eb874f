#pragma once

#include <vector>

#include "engine/channels/connect.h"
#include "tests/support/oracle.h"

namespace ringside::oracle {

/// The nodes of a golden job with the graphs that NCCL's own search found.
struct GoldenNodes {
  std::vector<NodeReport> reports;  ///< one for each entry of `systems`
  std::vector<JobNode> nodes;
};

/// Returns all that golden files hold of a node: graphs from `systems[].search`, CPU and GPUs from `systems[].topo`,
/// NIC counts and NVLink flags from `comm` (the same for all nodes), p2p_channels_per_peer computed from paths and
/// NICs as NCCL does (ncclTopoGetNchannels).
GoldenNodes golden_nodes(const Json& golden);

/// Returns `systems[index].search`. GPU and NIC numbers are indices within the node.
Graphs golden_graphs(const Json& golden, std::size_t index);

/// Returns one graph of `merged` or of `search`, without channels.
GraphSummary golden_summary(const Json& golden, const Json& graph);

/// Returns {"ring", "tree", "collnetChain", "nvls", "collnetDirect"}[id].
const char* golden_graph_name(GraphId id);

}  // namespace ringside::oracle
