#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringside {

/// The choice of a cluster's nodes for a job, in the order of its ranks. A node is a host, or an
/// NVLink domain of several hosts.
struct Placement {
  enum class Kind : std::uint8_t {
    Packed,     ///< the first nodes, in order
    Scattered,  ///< random nodes in random order, by the seed
    Listed      ///< the nodes of a scheduler's list
  };
  Kind kind = Kind::Packed;
  std::uint64_t seed = 1;
  std::vector<int> list = {};
  std::string where = {};  ///< file:line, for messages
};

/// Returns the `wanted` nodes of a job, chosen out of `nodes`.
/// errors  InvalidArgument: `wanted` exceeds the nodes of the cluster or of the list. Corrupt: a
///         list with a repeated number, or with a number that no node has
Result<std::vector<int>> place_nodes(const Placement& placement, int nodes, int wanted);

}  // namespace ringside
