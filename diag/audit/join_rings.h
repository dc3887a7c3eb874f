#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "diag/audit/facts.h"
#include "diag/audit/shard.h"

namespace ringside::audit {

/// Rebuilds the rings and trees of communicators from what their ranks say.
///
/// A ring's order comes from `Ring c : p -> r -> n` of all ranks, else from rank 0's `Channel c/n : ...`
/// where it is not cut, else from the connections, of which those of the trees are set aside.
/// source  docs/formats 2.12
class RingMaker {
 public:
  /// Sorts the shards' rings and trees by part.
  explicit RingMaker(std::vector<std::unique_ptr<Shard>>& shards);

  /// pieces  shard and part of all members
  void make(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces, CommFacts& comm);

 private:
  void make_trees(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces,
                  CommFacts& comm);

  /// By channel, how many lines name a successor in its ring.
  [[nodiscard]] std::vector<std::int64_t> count_hops(
      const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces) const;

  std::vector<std::unique_ptr<Shard>>& shards_;
};

}  // namespace ringside::audit
