#pragma once

#include <span>

#include "base/ids.h"
#include "engine/channels/connect.h"

namespace ringside {

/// A view of a job's nodes while they are joined: their reports, and the ranks of their GPUs.
///
/// Ownership  borrows both spans
struct JobView {
  std::span<const NodeReport> reports;
  std::span<const JobNode> nodes;
  int nranks = 0;

  [[nodiscard]] int nnodes() const { return static_cast<int>(nodes.size()); }
  [[nodiscard]] const NodeReport& report(int node) const {
    return reports[static_cast<std::size_t>(nodes[static_cast<std::size_t>(node)].report)];
  }
  [[nodiscard]] Rank rank(int node, int gpu) const {
    return Rank{nodes[static_cast<std::size_t>(node)].ranks[static_cast<std::size_t>(gpu)]};
  }
};

}  // namespace ringside
