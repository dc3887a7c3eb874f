#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringside {

/// Which of a cluster's nodes a job gets, in the order of its ranks. A node is a host, or an NVLink domain of several.
struct Placement {
  enum class Kind : std::uint8_t {
    Packed,     ///< the first ones, in their order
    Scattered,  ///< any, in any order, by the seed
    Listed      ///< a scheduler's list
  };
  Kind kind = Kind::Packed;
  std::uint64_t seed = 1;
  std::vector<int> list = {};
  std::string where = {};  ///< of the file; for messages
};

/// `wanted` nodes out of `nodes`.
/// errors  InvalidArgument: more than there are, or than are listed. Corrupt: a list with a number twice, or of no node
Result<std::vector<int>> place_nodes(const Placement& placement, int nodes, int wanted);

}  // namespace ringside
