#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/fabric/cluster.h"

namespace ringside {

/// Ports of a leaf that lead to hosts, if the word does not state it: half of a switch of 64 ports.
inline constexpr int kLeafPorts = 32;

/// Returns a cluster of these hosts, with a fabric given by one word: its kind and its oversubscription.
///
/// A leaf has kLeafPorts ports to hosts, a pod has kLeafPorts leaves; `changes` override these and set all other keys.
/// word    leaf_spine, leaf_spine:2 or leaf_spine:2:1
/// errors  InvalidArgument: an unknown kind (the error names the closest), an invalid ratio, a ratio for a kind that
///         has none. As parse_cluster(), for the changes
Result<Cluster> cluster_in_fabric(JobHosts hosts, const std::string& word,
                                  const std::vector<ClusterChange>& changes);

}  // namespace ringside
