#include "sim/fabric/placement.h"

#include <fmt/format.h>

#include <numeric>

#include "base/mixed.h"

namespace ringside {
namespace {

Status check_list(const Placement& placement, int nodes) {
  const auto bad = [&](const std::string& what, const std::string& help) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: {}", placement.where, what), help};
  };
  std::vector<bool> is_taken(static_cast<std::size_t>(nodes));
  for (const int node : placement.list) {
    if (node < 0 || node >= nodes) {
      return bad(fmt::format("placement on node {}", node),
                 fmt::format("the cluster has nodes 0 to {}", nodes - 1));
    }
    if (is_taken[static_cast<std::size_t>(node)]) {
      return bad(fmt::format("placement on node {} twice", node), "a node is one of the job's");
    }
    is_taken[static_cast<std::size_t>(node)] = true;
  }
  return {};
}

}  // namespace

Result<std::vector<int>> place_nodes(const Placement& placement, int nodes, int wanted) {
  const bool is_listed = placement.kind == Placement::Kind::Listed;
  if (is_listed) {
    RINGSIDE_TRY(check_list(placement, nodes));
  }
  const int there = is_listed ? static_cast<int>(placement.list.size()) : nodes;
  if (wanted < 1 || wanted > there) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--nodes {} of {} nodes {}", wanted, there,
                             is_listed ? "that the placement lists" : "that the cluster has"),
                 fmt::format("give 1 to {}", there)};
  }
  std::vector<int> placed = placement.list;
  if (!is_listed) {
    placed.resize(static_cast<std::size_t>(nodes));
    std::iota(placed.begin(), placed.end(), 0);
  }
  if (placement.kind == Placement::Kind::Scattered) {
    // source  Fisher and Yates' shuffle, stopped after the wanted number
    for (std::size_t i = 0; i < static_cast<std::size_t>(wanted); ++i) {
      std::swap(placed[i], placed[i + mixed_with(placement.seed, i) % (placed.size() - i)]);
    }
  }
  placed.resize(static_cast<std::size_t>(wanted));
  return placed;
}

}  // namespace ringside
