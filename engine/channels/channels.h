#pragma once

#include <array>
#include <vector>

#include "base/ids.h"

namespace ringside {

/// The lanes of a communicator. Each ring holds every rank once, begins at rank 0, and goes on from
/// its last rank to its first.
struct Channels {
  std::vector<std::vector<Rank>> rings;  ///< [channel][position] = rank

  /// A rank's place in a tree: towards the root, and away from it.
  struct TreePlace {
    Rank parent = kNoRank;            ///< kNoRank: this is the root, or the rank is not in the tree
    std::vector<Rank> children = {};  ///< the chain within the node first
    friend bool operator==(const TreePlace&, const TreePlace&) = default;
  };
  /// [channel][rank]; channels c and c + count() / 2 are the two trees of a double binary tree.
  std::vector<std::vector<TreePlace>> trees = {};
  int tree_depth = 0;  ///< NCCL's estimate, steps from a leaf to the root

  /// NVLS: one rank a node heads each slice of the data.
  struct Nvls {
    std::vector<std::vector<Rank>> heads;       ///< [head][node]
    std::vector<std::vector<TreePlace>> trees;  ///< [channel parity][rank]; of several nodes
  } nvls = {};

  struct CollNet {
    std::vector<Rank> heads;  ///< of the first node, in the order of CollNetDirect's channels
    std::vector<Rank> direct_heads;  ///< of the first node, as rank 0 sees them: itself first
    std::vector<std::vector<Rank>> rails = {};  ///< [head][node], of CollNetDirect
    /// [rank] = towards and away from the network; nranks means the network, kNoRank no rank
    std::vector<std::array<Rank, 2>> chain;
  } collnet = {};

  std::vector<std::vector<Rank>> nodes = {};  ///< [node] = its ranks; empty: all are on one

  [[nodiscard]] int count() const { return static_cast<int>(rings.size()); }
};

/// Ranks on hosts, of which no more is known: rings in their natural order on every channel; double
/// binary trees, over the nodes where there are several, with a chain within each; on each node a head
/// for each rank that every node has, at most kMaxHeads; chains in their natural order.
///
/// ranks_per_node  0: all ranks are on one node; else the last node may have fewer
/// shape           nranks >= 1, nchannels >= 1, ranks_per_node >= 0
Channels host_channels(int nranks, int nchannels, int ranks_per_node = 0);

inline constexpr int kMaxHeads = 32;  ///< source  NCCL_MAX_NVLS_ARITY

}  // namespace ringside
