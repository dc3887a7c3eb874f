#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/channels/graph.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// Writes the graphs of a node in the format of NCCL_GRAPH_DUMP_FILE and NCCL_GRAPH_FILE, in NCCL's order: ring, tree,
/// CollNet direct, CollNet chain, NVLS.
///
/// errors  Unsupported: a graph over C2C, which the format cannot express
Result<std::string> to_graph_xml(const Graphs& graphs, const System& system);

/// Reads the graphs of a file for this node. A graph that the file lacks has no channels, and still has to be searched.
/// Each error message begins with `where`.
///
/// errors  Corrupt, as `where:line: what`, with the fix: not XML, an unknown element, a number out of
///         range, a GPU or NIC that the node lacks, a channel that omits a GPU or visits it twice
Result<Graphs> parse_graph_xml(std::string_view text, const std::string& where,
                               const System& system);

/// Reads the graphs from a file.  errors  NotFound, System: it cannot be read; as parse_graph_xml()
Result<Graphs> load_graph_xml(const std::string& path, const System& system);

}  // namespace ringside
