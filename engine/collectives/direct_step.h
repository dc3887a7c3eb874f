#pragma once

#include <cstdint>

namespace ringside {

/// The messages of a step that bypass the slots (DirectStores in direct_stores.h), on hosts and on GPUs. A port to a
/// rank has one end, a port to a group one end for each rank of the group.
struct DirectStep {
  /// One bit per sending end: 1: the message is stored directly into the peer's output
  std::uint64_t to = 0;
  std::uint64_t takes = 0;  ///< 1: the step's only message is already in this rank's output
  friend bool operator==(const DirectStep&, const DirectStep&) = default;
};

}  // namespace ringside
