#pragma once

#include <array>
#include <vector>

#include "base/ids.h"

namespace ringside {

/// The channels of a communicator: its rings, trees, NVLS and CollNet structures. Each ring contains every rank once
/// and begins at rank 0; its last rank sends to its first.
struct Channels {
  std::vector<std::vector<Rank>> rings;  ///< [channel][position] = rank

  /// A rank's neighbours in a tree: its parent and its children.
  struct TreePlace {
    Rank parent = kNoRank;            ///< kNoRank: the rank is the root, or is not in the tree
    std::vector<Rank> children = {};  ///< the chain within the node first
    friend bool operator==(const TreePlace&, const TreePlace&) = default;
  };
  /// [channel][rank]; channels c and c + count() / 2 are the two trees of a double binary tree.
  std::vector<std::vector<TreePlace>> trees = {};
  int tree_depth = 0;  ///< NCCL's estimate, steps from a leaf to the root

  /// NVLS: each slice of the data has one head rank per node.
  struct Nvls {
    std::vector<std::vector<Rank>> heads;       ///< [head][node]
    std::vector<std::vector<TreePlace>> trees;  ///< [channel parity][rank]; empty on one node
  } nvls = {};

  struct CollNet {
    std::vector<Rank> heads;  ///< heads of the first node, in the order of CollNetDirect's channels
    std::vector<Rank> direct_heads;  ///< heads of the first node in rank 0's order: itself first
    std::vector<std::vector<Rank>> rails = {};  ///< [head][node], of CollNetDirect
    /// [rank] = neighbours towards and away from the network; nranks: the network; kNoRank: none
    std::vector<std::array<Rank, 2>> chain;
  } collnet = {};

  std::vector<std::vector<Rank>> nodes = {};  ///< [node] = its ranks; empty: all are on one

  [[nodiscard]] int count() const { return static_cast<int>(rings.size()); }
};

/// Returns channels for ranks on hosts without topology information. Every channel has a ring in rank order. Trees are
/// double binary trees, over the nodes if there are several, with a chain within each node. Every node has as many
/// heads as the smallest node has ranks, at most kMaxHeads. Chains are in rank order.
///
/// ranks_per_node  0: all ranks are on one node; else the last node may have fewer
/// shape           nranks >= 1, nchannels >= 1, ranks_per_node >= 0
Channels host_channels(int nranks, int nchannels, int ranks_per_node = 0);

inline constexpr int kMaxHeads = 32;  ///< source  NCCL_MAX_NVLS_ARITY

}  // namespace ringside
