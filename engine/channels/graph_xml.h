#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/channels/graph.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// The graphs of a node as NCCL_GRAPH_DUMP_FILE writes them, in its order: ring, tree, CollNet direct,
/// CollNet chain, NVLS. NCCL_GRAPH_FILE reads it.
///
/// errors  Unsupported: a graph over C2C, which the format has no word for
Result<std::string> to_graph_xml(const Graphs& graphs, const System& system);

/// The graphs that a file gives for this node. One that it lacks has no channels, and is to be searched.
/// `where` opens each message.
///
/// errors  Corrupt, as `where:line: what`, with the fix: not XML, an unknown element, a number out of
///         range, a GPU or NIC that the node has not, a channel that omits a GPU or visits it twice
Result<Graphs> parse_graph_xml(std::string_view text, const std::string& where,
                               const System& system);

/// The same, from a file.  errors  NotFound, System: it cannot be read; as above
Result<Graphs> load_graph_xml(const std::string& path, const System& system);

}  // namespace ringside
