#include "engine/channels/trees.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace ringside {
namespace {

/// A row of NCCL's tables: (parent | children).
struct Row {
  int parent;
  std::array<int, 2> children;
};

void expect_tree(std::size_t which, const std::vector<Row>& rows) {
  const int nnodes = static_cast<int>(rows.size());
  for (int node = 0; node < nnodes; ++node) {
    SCOPED_TRACE("node " + std::to_string(node) + " of " + std::to_string(nnodes));
    const TreeNode tree = double_tree(nnodes, node)[which];
    EXPECT_EQ(tree.parent, rows[static_cast<std::size_t>(node)].parent);
    EXPECT_EQ(tree.children, rows[static_cast<std::size_t>(node)].children);
  }
}

TEST(DoubleTree, FirstTreeHasItsLeavesOnOddNodes) {
  expect_tree(0, {{-1, {-1, 1}}, {0, {-1, -1}}});
  expect_tree(0, {{-1, {-1, 2}}, {2, {-1, -1}}, {0, {1, -1}}});
  expect_tree(0, {{-1, {-1, 2}}, {2, {-1, -1}}, {0, {1, 3}}, {2, {-1, -1}}});
  expect_tree(0, {{-1, {-1, 4}}, {2, {-1, -1}}, {4, {1, 3}}, {2, {-1, -1}}, {0, {2, -1}}});
  expect_tree(0, {{-1, {-1, 4}},
                  {2, {-1, -1}},
                  {4, {1, 3}},
                  {2, {-1, -1}},
                  {0, {2, 6}},
                  {6, {-1, -1}},
                  {4, {5, 7}},
                  {6, {-1, -1}}});
}

TEST(DoubleTree, SecondTreeIsTurnedByOneForOddAndMirroredForEvenNumbersOfNodes) {
  expect_tree(1, {{1, {-1, -1}}, {-1, {-1, 0}}});
  expect_tree(1, {{1, {2, -1}}, {-1, {-1, 0}}, {0, {-1, -1}}});
  expect_tree(1, {{1, {-1, -1}}, {3, {2, 0}}, {1, {-1, -1}}, {-1, {-1, 1}}});
  expect_tree(1, {{1, {3, -1}}, {-1, {-1, 0}}, {3, {-1, -1}}, {0, {2, 4}}, {3, {-1, -1}}});
  expect_tree(1, {{1, {-1, -1}},
                  {3, {2, 0}},
                  {1, {-1, -1}},
                  {7, {5, 1}},
                  {5, {-1, -1}},
                  {3, {6, 4}},
                  {5, {-1, -1}},
                  {-1, {-1, 3}}});
}

TEST(DoubleTree, OneNodeIsAloneInBoth) {
  EXPECT_EQ(double_tree(1, 0)[0], TreeNode{});
  EXPECT_EQ(double_tree(1, 0)[1], TreeNode{});
}

/// Steps from a node to the root; fails where the way does not end.
int steps_to_root(int nnodes, int node, std::size_t which) {
  int steps = 0;
  while (double_tree(nnodes, node)[which].parent >= 0) {
    node = double_tree(nnodes, node)[which].parent;
    if (++steps > nnodes) {
      ADD_FAILURE() << "a cycle at node " << node << " of " << nnodes;
      break;
    }
  }
  return steps;
}

bool is_leaf(const TreeNode& tree) { return tree.children[0] < 0 && tree.children[1] < 0; }

TEST(DoubleTree, JoinsAllNodesAndIsAsDeepAsALogarithm) {
  for (int nnodes = 1; nnodes <= 200; ++nnodes) {
    for (const std::size_t which : {0U, 1U}) {
      int roots = 0;
      for (int node = 0; node < nnodes; ++node) {
        const TreeNode tree = double_tree(nnodes, node)[which];
        if (tree.parent < 0) ++roots;
        // 2^steps <= nodes, rounded up to a power of two: 200 nodes, 8 steps at most.
        ASSERT_LE(1 << steps_to_root(nnodes, node, which), 2 * nnodes - 1);
        for (std::size_t place = 0; place < 2; ++place) {
          if (tree.children[place] < 0) continue;
          const TreeNode child = double_tree(nnodes, tree.children[place])[which];
          ASSERT_EQ(child.parent, node);
          ASSERT_EQ(child.place, static_cast<int>(place));
        }
        if (tree.parent >= 0) {
          const TreeNode parent = double_tree(nnodes, tree.parent)[which];
          ASSERT_EQ(parent.children[static_cast<std::size_t>(tree.place)], node);
        }
      }
      ASSERT_EQ(roots, 1) << nnodes << " nodes, tree " << which;
    }
  }
}

TEST(DoubleTree, EachNodeIsALeafInOneTreeWhereNodesAreEven) {
  for (int nnodes = 2; nnodes <= 200; nnodes += 2) {
    for (int node = 0; node < nnodes; ++node) {
      const auto [first, second] = double_tree(nnodes, node);
      EXPECT_TRUE(is_leaf(first) || is_leaf(second)) << "node " << node << " of " << nnodes;
    }
  }
}

// A chain of 8 GPUs has 7 steps; over 4 nodes come 2, over 5 as well (rounded down), over 8 three.
TEST(TreeDepth, AddsTheChainAndALogarithmOfTheNodes) {
  EXPECT_EQ(tree_depth(8, 1), 7);
  EXPECT_EQ(tree_depth(32, 4), 9);
  EXPECT_EQ(tree_depth(40, 5), 9);
  EXPECT_EQ(tree_depth(64, 8), 10);
  EXPECT_EQ(tree_depth(1, 1), 0);
}

}  // namespace
}  // namespace ringside
