#pragma once

#include "engine/collectives/primitives.h"

/// Trees: contributions go up to the root, and the result comes down; a loop is one chunk. The two directions are
/// separate strands, so that later chunks go up while earlier ones come down.
/// source  order of steps: NCCL 2.30's tree kernels
namespace ringside {

/// One rank's place in a tree. Its ports, for sending and for receiving: the children, then the parent.
struct Tree {
  int first_port = 0;
  int children = 0;  ///< the chain within the node comes first
  bool is_root = true;

  [[nodiscard]] RINGSIDE_HD constexpr Ports below() const {
    return ports_from(first_port, children);
  }
  [[nodiscard]] RINGSIDE_HD constexpr Ports above() const { return port(first_port + children); }
};

/// Tree all-reduce, first strand: sums move up to the root. The root, which has all contributions, sends the result down at once. The
/// CollNet chain is the same, with the network as the root: it reduces the results of the nodes' chains.
/// rounds  2 x depth      traffic  the buffer once up and once down each edge of the tree
template <Primitives P>
RINGSIDE_HD void tree_reduce(P& primitives, Tree tree) {
  if (tree.is_root) {
    primitives.recv_reduce_copy_send(0, tree.below(), tree.below());
  } else if (tree.children == 0) {
    primitives.send(0, tree.above());
  } else {
    primitives.recv_reduce_send(0, tree.below(), tree.above());
  }
}

/// Second strand: the result moves down from the root.
template <Primitives P>
RINGSIDE_HD void tree_broadcast(P& primitives, Tree tree) {
  if (tree.is_root) return;
  if (tree.children == 0) {
    primitives.recv(0, tree.above());
  } else {
    primitives.recv_copy_send(0, tree.above(), tree.below());
  }
}

}  // namespace ringside
