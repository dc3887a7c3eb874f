#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/channels/graph.h"
#include "engine/debuglog/version.h"
#include "engine/topology/path_type.h"
#include "engine/topology/paths/system.h"

/// What GRAPH shows of a node: messages without prefix, each a line.
/// source  docs/formats 2.7
namespace ringside {

/// The links from every CPU on, as a tree, and the paths from every GPU.
/// first_rank  of this node; the system's own may be another node's
/// unit        GB/s
std::vector<std::string> system_text(NcclVersion version, const System& system, int first_rank);

/// One searched graph: its pattern, and each channel's way through the node.
std::vector<std::string> graph_text(NcclVersion version, const System& system, const Graph& graph,
                                    int first_rank);

/// NCCL's number of a path type, which has changed; types that a version lacks count as the next
/// farther one that it has.
int path_number(NcclVersion version, PathType type);
std::string_view path_name(NcclVersion version, PathType type);

/// Whether a GPU and a NIC reach each other without the CPU's memory.
struct GdrPair {
  int rank = 0;
  std::int64_t bus_id = 0;
  int net_device = 0;
  PathType distance = PathType::Pix;
  bool is_read = false;
  bool is_enabled = true;
};
/// NET up to 2.25, then GRAPH; up to 2.29.
std::string gdr_pair_text(NcclVersion version, const GdrPair& pair);

}  // namespace ringside
