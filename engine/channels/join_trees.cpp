#include "base/assert.h"
#include "engine/channels/join.h"
#include "engine/channels/trees.h"

namespace ringside {
namespace {

using TreePlace = Channels::TreePlace;

/// The GPUs of a node's chain that are connected to the tree over the nodes.
struct Joints {
  int parent = 0;
  std::array<int, 2> children{};
};

Joints joints_of(const Graph& tree, int channel) {
  const std::vector<int>& chain = tree.intra[static_cast<std::size_t>(channel)];
  const auto second = [&chain] {
    RINGSIDE_ASSERT(chain.size() > 1, "a tree of one GPU has no second one");
    return chain[1];
  };
  switch (tree.pattern) {
    case Pattern::BalancedTree:
      return {chain[0], {second(), chain[0]}};
    case Pattern::SplitTree:
      return {chain[0], {second(), second()}};
    default:
      return {chain[0], {chain[0], chain[0]}};
  }
}

void join_chain(const JobView& job, int node, const std::vector<int>& chain,
                std::vector<TreePlace>& places) {
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    const Rank upper = job.rank(node, chain[i]);
    const Rank lower = job.rank(node, chain[i + 1]);
    places[static_cast<std::size_t>(to_int(upper))].children.push_back(lower);
    places[static_cast<std::size_t>(to_int(lower))].parent = upper;
  }
}

/// The edges between a node and its parent and children, as seen from the node's side.
void join_node(const JobView& job, int node, const TreeNode& tree, int channel,
               std::vector<TreePlace>& places) {
  const auto place_of = [&](int gpu) -> TreePlace& {
    return places[static_cast<std::size_t>(to_int(job.rank(node, gpu)))];
  };
  const auto joints = [&](int other) {
    return joints_of(job.report(other).graphs[GraphId::Tree], channel);
  };
  const Joints own = joints(node);
  if (tree.parent >= 0) {
    const int above = joints(tree.parent).children[static_cast<std::size_t>(tree.place)];
    place_of(own.parent).parent = job.rank(tree.parent, above);
  }
  for (std::size_t slot = 0; slot < tree.children.size(); ++slot) {
    const int child = tree.children[slot];
    if (child < 0) continue;
    place_of(own.children[slot]).children.push_back(job.rank(child, joints(child).parent));
  }
}

}  // namespace

std::vector<std::vector<TreePlace>> join_trees(const JobView& job, int nchannels) {
  std::vector<std::array<TreeNode, 2>> nodes;
  nodes.reserve(static_cast<std::size_t>(job.nnodes()));
  for (int node = 0; node < job.nnodes(); ++node) {
    nodes.push_back(double_tree(job.nnodes(), node));
  }

  std::vector<std::vector<TreePlace>> trees(static_cast<std::size_t>(2 * nchannels));
  for (int lane = 0; lane < 2 * nchannels; ++lane) {
    std::vector<TreePlace>& places = trees[static_cast<std::size_t>(lane)];
    places.resize(static_cast<std::size_t>(job.nranks));
    const int channel = lane % nchannels;
    for (int node = 0; node < job.nnodes(); ++node) {
      const Graph& tree = job.report(node).graphs[GraphId::Tree];
      join_chain(job, node, tree.intra[static_cast<std::size_t>(channel)], places);
      join_node(job, node,
                nodes[static_cast<std::size_t>(node)][static_cast<std::size_t>(lane / nchannels)],
                channel, places);
    }
  }
  return trees;
}

}  // namespace ringside
