#include "engine/channels/trees.h"

#include <bit>

#include "base/assert.h"

namespace ringside {
namespace {

/// Returns the distance to the farther child: `step`, halved until that node exists; 0 if no such node
/// exists.
int reach(int step, int node, int nnodes) {
  while (step > 0 && node + step >= nnodes) step /= 2;
  return step;
}

/// Returns a node's neighbours in the first tree of double_tree().
TreeNode alternating_tree(int nnodes, int node) {
  TreeNode place;
  if (node == 0) {
    // The root is never listed as the first child: its only child is the largest power of two below nnodes.
    place.children[1] =
        nnodes > 1 ? static_cast<int>(std::bit_floor(static_cast<unsigned>(nnodes - 1))) : -1;
    return place;
  }
  const int level = node & -node;
  const int lower = node ^ level;
  const int upper = lower | (2 * level);
  place.parent = upper < nnodes ? upper : lower;
  place.place = node < place.parent ? 0 : 1;
  if (level == 1) return place;
  place.children[0] = node - level / 2;
  if (const int step = reach(level / 2, node, nnodes); step > 0) place.children[1] = node + step;
  return place;
}

/// Returns the tree node with map() applied to each node number.
template <typename Map>
TreeNode renamed(TreeNode tree, Map map) {
  if (tree.parent >= 0) tree.parent = map(tree.parent);
  for (int& child : tree.children) {
    if (child >= 0) child = map(child);
  }
  return tree;
}

/// Returns a node's neighbours in the second tree: the first one mirrored, or shifted by one node if nnodes is odd.
TreeNode second_tree(int nnodes, int node) {
  if (nnodes % 2 == 0) {
    return renamed(alternating_tree(nnodes, nnodes - 1 - node),
                   [nnodes](int other) { return nnodes - 1 - other; });
  }
  return renamed(alternating_tree(nnodes, (node + nnodes - 1) % nnodes),
                 [nnodes](int other) { return (other + 1) % nnodes; });
}

}  // namespace

std::array<TreeNode, 2> double_tree(int nnodes, int node) {
  RINGSIDE_ASSERT(node >= 0 && node < nnodes, "node {} of {}", node, nnodes);
  return {alternating_tree(nnodes, node), second_tree(nnodes, node)};
}

int tree_depth(int nranks, int nnodes) {
  const int log2 = static_cast<int>(std::bit_width(static_cast<unsigned>(nnodes))) - 1;
  return nranks / nnodes - 1 + log2;
}

}  // namespace ringside
