#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/fabric/cluster.h"

namespace ringside {

/// Ports of a leaf that lead to hosts, where a word does not say how many hosts share one: half of a switch of 64 ports.
inline constexpr int kLeafPorts = 32;

/// A cluster of these hosts with a fabric that is given by one word: its kind, and its oversubscription.
///
/// A leaf has kLeafPorts ports to hosts, a pod kLeafPorts leaves; `changes` replace these and add all other keys.
/// word    leaf_spine, leaf_spine:2 or leaf_spine:2:1
/// errors  InvalidArgument: an unknown kind (the nearest is named), a ratio that is no number, one of a kind that has none.
///         As parse_cluster(), of the changes
Result<Cluster> cluster_in_fabric(JobHosts hosts, const std::string& word,
                                  const std::vector<ClusterChange>& changes);

}  // namespace ringside
