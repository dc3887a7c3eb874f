#pragma once

#include <array>

namespace ringside {

/// A node's neighbours in one tree over the nodes of a job; -1: none.
struct TreeNode {
  int parent = -1;
  /// The second one is on the far side of the node: its edge may leave from another GPU.
  std::array<int, 2> children{-1, -1};
  /// This node is its parent's children[place].
  int place = 0;

  friend bool operator==(const TreeNode&, const TreeNode&) = default;
};

/// Two trees over nodes 0 .. nnodes - 1, half of the data in each, so that every node sends and
/// receives about as much: with an even number of nodes each one is a leaf in one of the two.
///
/// The first numbers its levels by the lowest set bit (leaves are the odd nodes, node 0 is the root
/// with one child); the second is the first turned by one place where nnodes is odd, else mirrored.
///
/// shape   nnodes >= 1, 0 <= node < nnodes
/// returns the node's place in each
/// source  NCCL 2.30.7 graph/trees.cc: ncclGetDtree
std::array<TreeNode, 2> double_tree(int nnodes, int node);

/// Steps from a leaf to the root, as NCCL estimates it for chains of nranks / nnodes in each node.
int tree_depth(int nranks, int nnodes);

}  // namespace ringside
