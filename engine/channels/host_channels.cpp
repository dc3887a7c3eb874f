#include <algorithm>

#include "base/assert.h"
#include "engine/channels/channels.h"
#include "engine/channels/trees.h"

namespace ringside {
namespace {

using TreePlace = Channels::TreePlace;
using Groups = std::vector<std::vector<Rank>>;

TreePlace& place_of(std::vector<TreePlace>& tree, Rank rank) {
  return tree[static_cast<std::size_t>(to_int(rank))];
}

/// Builds a tree over all ranks: one of the two trees joins the first ranks of the groups, and the other
/// ranks of each group form a chain behind its first rank.
std::vector<TreePlace> tree_over(const Groups& groups, std::size_t parity, int nranks) {
  std::vector<TreePlace> tree(static_cast<std::size_t>(nranks));
  const auto top = [&](int group) { return groups[static_cast<std::size_t>(group)].front(); };
  for (int group = 0; group < static_cast<int>(groups.size()); ++group) {
    const std::vector<Rank>& chain = groups[static_cast<std::size_t>(group)];
    for (std::size_t i = 1; i < chain.size(); ++i) {
      place_of(tree, chain[i]).parent = chain[i - 1];
      place_of(tree, chain[i - 1]).children.push_back(chain[i]);
    }
    const TreeNode node = double_tree(static_cast<int>(groups.size()), group)[parity];
    if (node.parent >= 0) place_of(tree, top(group)).parent = top(node.parent);
    for (const int child : node.children) {
      if (child >= 0) place_of(tree, top(group)).children.push_back(top(child));
    }
  }
  return tree;
}

Groups nodes_of(int nranks, int ranks_per_node) {
  Groups nodes;
  for (int rank = 0; rank < nranks; ++rank) {
    if (rank % ranks_per_node == 0) nodes.emplace_back();
    nodes.back().push_back(Rank{rank});
  }
  return nodes;
}

/// Returns, for each head, the ranks that have the same position on their nodes: [head][node].
Groups rails_of(const Groups& nodes) {
  const auto heads = std::min(nodes.back().size(), static_cast<std::size_t>(kMaxHeads));
  Groups rails(heads);
  for (const std::vector<Rank>& node : nodes) {
    for (std::size_t head = 0; head < heads; ++head) rails[head].push_back(node[head]);
  }
  return rails;
}

std::vector<TreePlace> head_trees(const Groups& rails, std::size_t parity, int nranks) {
  std::vector<TreePlace> places(static_cast<std::size_t>(nranks));
  for (const std::vector<Rank>& rail : rails) {
    Groups single;
    for (const Rank rank : rail) single.push_back({rank});
    const std::vector<TreePlace> tree = tree_over(single, parity, nranks);
    for (const Rank rank : rail) {
      place_of(places, rank) = tree[static_cast<std::size_t>(to_int(rank))];
    }
  }
  return places;
}

std::vector<std::array<Rank, 2>> chains_of(const Groups& nodes, int nranks) {
  std::vector<std::array<Rank, 2>> chain;
  for (const std::vector<Rank>& node : nodes) {
    for (std::size_t i = 0; i < node.size(); ++i) {
      chain.push_back(
          {i == 0 ? Rank{nranks} : node[i - 1], i + 1 == node.size() ? kNoRank : node[i + 1]});
    }
  }
  return chain;
}

}  // namespace

Channels host_channels(int nranks, int nchannels, int ranks_per_node) {
  RINGSIDE_ASSERT(nranks >= 1 && nchannels >= 1 && ranks_per_node >= 0,
                  "{} ranks, {} channels, {} ranks a node", nranks, nchannels, ranks_per_node);
  Channels channels;
  channels.nodes = nodes_of(nranks, ranks_per_node == 0 ? nranks : ranks_per_node);
  std::vector<Rank> ring;
  for (int rank = 0; rank < nranks; ++rank) ring.push_back(Rank{rank});
  channels.rings.assign(static_cast<std::size_t>(nchannels), ring);

  const bool is_one_node = channels.nodes.size() == 1;
  const Groups tops = is_one_node ? nodes_of(nranks, 1) : channels.nodes;
  const std::array trees{tree_over(tops, 0, nranks), tree_over(tops, 1, nranks)};
  for (int channel = 0; channel < nchannels; ++channel) {
    channels.trees.push_back(trees[channel < (nchannels + 1) / 2 ? 0 : 1]);
  }
  channels.tree_depth = tree_depth(nranks, static_cast<int>(tops.size()));

  const Groups rails = rails_of(channels.nodes);
  channels.nvls.heads = rails;
  if (!is_one_node) {
    channels.nvls.trees = {head_trees(rails, 0, nranks), head_trees(rails, 1, nranks)};
  }
  channels.collnet.rails = rails;
  for (const std::vector<Rank>& rail : rails) channels.collnet.heads.push_back(rail.front());
  channels.collnet.direct_heads = channels.collnet.heads;
  channels.collnet.chain = chains_of(channels.nodes, nranks);
  return channels;
}

}  // namespace ringside
