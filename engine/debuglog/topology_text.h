#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/channels/graph.h"
#include "engine/debuglog/version.h"
#include "engine/topology/path_type.h"
#include "engine/topology/paths/system.h"

/// The messages of subsystem GRAPH about a node's topology, one line each, without prefix.
/// source  docs/formats 2.7
namespace ringside {

/// Returns the tree of links below each CPU, then the paths from each GPU.
/// first_rank  smallest global rank of this node. `system` may describe another, identical node: of its ranks, only
///             their distance from its smallest counts
/// unit        GB/s
std::vector<std::string> system_text(NcclVersion version, const System& system, int first_rank);

/// Returns a searched graph: a line for its pattern, and one for each channel's order of GPUs and NICs.
/// first_rank  as above
std::vector<std::string> graph_text(NcclVersion version, const System& system, const Graph& graph,
                                    int first_rank);

/// Returns the number that a version gives to a path type. A type that the version lacks gets the number of the next
/// farther type.
int path_number(NcclVersion version, PathType type);
std::string_view path_name(NcclVersion version, PathType type);

/// Whether a GPU and a NIC transfer data directly (GPUDirect RDMA).
struct GdrPair {
  int rank = 0;
  std::int64_t bus_id = 0;
  int net_device = 0;
  PathType distance = PathType::Pix;
  bool is_read = false;
  bool is_enabled = true;
};
/// Returns the line about GPUDirect RDMA of a pair. Versions up to 2.25 log it under NET, 2.26 to 2.29 under GRAPH,
/// later ones not at all.
std::string gdr_pair_text(NcclVersion version, const GdrPair& pair);

}  // namespace ringside
