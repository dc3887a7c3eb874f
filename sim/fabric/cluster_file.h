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
    std::string source;  ///< as --on takes one
    int count = 1;
    std::string where;             ///< of the file; for messages
    std::string description = {};  ///< a host/1 within the file itself; empty: `source`
  };
  std::string name;
  std::vector<Nodes> nodes;
  std::optional<int> nvl_domain = {};
  std::string nvl_domain_where = {};  ///< of the file; for messages
  FabricSettings fabric;
  Placement placement;
};

/// `fabric.oversubscription` and `2`: a key and its new value.
using ClusterChange = std::pair<std::string, std::string>;

/// `where` opens each message.
/// errors  Corrupt: not YAML, another version, an unknown, missing or repeated key, a value out of range; as
///         `where:line: what`, with the fix. InvalidArgument: a change of an unknown key
Result<ClusterFile> parse_cluster(const std::string& text, const std::string& where,
                                  const std::vector<ClusterChange>& changes = {});

struct Platform;

/// A platform of SimGrid's as a cluster; its hosts are nodes in the order of the file.
/// node    what a host is that does not say so; empty: each must
/// errors  Corrupt: a host of unknown type. InvalidArgument: a change of a value that the file sets itself
Result<ClusterFile> cluster_of_platform(Platform platform, const std::string& node,
                                        const std::vector<ClusterChange>& changes);

/// Whether the text opens as such a file does: `ringside: cluster/...`.
bool is_cluster_text(std::string_view text);

/// Whether a change may have this name: `placement`, `fabric.` and something.
bool is_cluster_key(std::string_view name);

}  // namespace ringside
