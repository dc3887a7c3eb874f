#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/fabric/placement.h"
#include "sim/fabric/settings.h"

namespace ringside {

/// A cluster as its file describes it (grammar: docs/reference/clusters.md).
struct ClusterFile {
  struct Nodes {
    std::string source;  ///< host description, in the form of --on
    int count = 1;
    std::string where;             ///< of the file; for messages
    std::string description = {};  ///< a host/1 within the file itself; empty: `source`
  };
  std::string name;
  std::vector<Nodes> nodes;
  std::optional<int> nvl_domain = {};
  std::string nvl_domain_where = {};  ///< file:line, for messages
  FabricSettings fabric;
  Placement placement;
};

/// A key and its new value: `fabric.oversubscription` and `2`.
using ClusterChange = std::pair<std::string, std::string>;

/// Parses a cluster/1 file.
/// where    file name; opens each error message
/// changes  replace values of the file
/// shape    changes: is_cluster_key() of each name
/// errors   Corrupt, as `where:line: problem` with the fix: not YAML, another version, an unknown, missing or repeated
///          key, a value out of range. A change's key and value count like those of the file
Result<ClusterFile> parse_cluster(const std::string& text, const std::string& where,
                                  const std::vector<ClusterChange>& changes = {});

struct Platform;

/// Converts a SimGrid platform to a cluster. Its hosts become nodes in the order of the file.
/// node    node type of hosts without a type of their own; empty: each host must state its type
/// errors  Corrupt: a host of unknown type. InvalidArgument: a change of a value that the platform
///         file defines
Result<ClusterFile> cluster_of_platform(Platform platform, const std::string& node,
                                        const std::vector<ClusterChange>& changes);

/// Returns true if the text begins like a cluster file: `ringside: cluster/...`.
bool is_cluster_text(std::string_view text);

/// Returns true if a change may have this name: `placement`, or `fabric.` and a key.
bool is_cluster_key(std::string_view name);

}  // namespace ringside
