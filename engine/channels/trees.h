#pragma once

#include <array>

namespace ringside {

/// A node's neighbours in one tree over the nodes of a job; -1: none.
struct TreeNode {
  int parent = -1;
  /// The edge to the second child may leave from another GPU of the node.
  std::array<int, 2> children{-1, -1};
  /// This node is its parent's children[place].
  int place = 0;

  friend bool operator==(const TreeNode&, const TreeNode&) = default;
};

/// Returns a node's neighbours in two trees over nodes 0 .. nnodes - 1. Each tree carries half of the data, so that
/// every node sends and receives about equally much: with an even number of nodes, each node is a leaf in one tree.
///
/// In the first tree, a node's lowest set bit gives its level (leaves are the odd nodes; node 0 is the root, with one
/// child). The second tree is the first one shifted by one node if nnodes is odd, else mirrored.
///
/// shape   nnodes >= 1, 0 <= node < nnodes
/// returns [tree]: the node's neighbours
/// source  NCCL 2.30.7 graph/trees.cc: ncclGetDtree
std::array<TreeNode, 2> double_tree(int nnodes, int node);

/// Returns NCCL's estimate of the steps from a leaf to the root, with chains of nranks / nnodes ranks in each node.
int tree_depth(int nranks, int nnodes);

}  // namespace ringside
