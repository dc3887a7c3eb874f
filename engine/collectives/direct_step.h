#pragma once

#include <cstdint>

namespace ringside {

/// What of a step goes without a slot: DirectStores (direct_stores.h) on hosts and on GPUs. Ends count as ports lead to
/// them: of a rank one, of a group one for each rank on its other side.
struct DirectStep {
  std::uint64_t to = 0;     ///< a bit a sending end: the message is stored into the peer's output
  std::uint64_t takes = 0;  ///< 1: the step's one message lies in this rank's output already
  friend bool operator==(const DirectStep&, const DirectStep&) = default;
};

}  // namespace ringside
