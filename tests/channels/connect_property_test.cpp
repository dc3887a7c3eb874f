#include <gtest/gtest.h>

#include <algorithm>

#include "tests/channels/small_nodes.h"

namespace ringside {
namespace {

void expect_ring(const std::vector<Rank>& ring, int nranks) {
  ASSERT_EQ(static_cast<int>(ring.size()), nranks);
  ASSERT_EQ(ring.front(), Rank{0});
  std::vector<Rank> sorted = ring;
  std::sort(sorted.begin(), sorted.end());
  for (int rank = 0; rank < nranks; ++rank) {
    ASSERT_EQ(sorted[static_cast<std::size_t>(rank)], Rank{rank});
  }
}

/// Returns the number of ranks in the subtree of `rank`, itself included. It does not end on a cycle: the caller has
/// checked that there is one root and that parents and children agree.
int reached_from(const std::vector<Channels::TreePlace>& tree, Rank rank) {
  int reached = 1;
  for (const Rank child : tree[static_cast<std::size_t>(to_int(rank))].children) {
    reached += reached_from(tree, child);
  }
  return reached;
}

void expect_tree(const std::vector<Channels::TreePlace>& tree) {
  Rank root = kNoRank;
  std::size_t edges = 0;
  for (std::size_t rank = 0; rank < tree.size(); ++rank) {
    ASSERT_LE(tree[rank].children.size(), 3U);
    edges += tree[rank].children.size();
    for (const Rank child : tree[rank].children) {
      ASSERT_EQ(tree[static_cast<std::size_t>(to_int(child))].parent, Rank{static_cast<int>(rank)});
    }
    if (tree[rank].parent != kNoRank) continue;
    ASSERT_EQ(root, kNoRank) << "two roots";
    root = Rank{static_cast<int>(rank)};
  }
  ASSERT_NE(root, kNoRank);
  // There is one edge fewer than ranks and each child has one parent, so no cycle exists next to the tree.
  ASSERT_EQ(edges, tree.size() - 1);
  ASSERT_EQ(reached_from(tree, root), static_cast<int>(tree.size()));
}

void expect_whole(const Connection& job) {
  for (const auto& ring : job.channels.rings) expect_ring(ring, job.shape.nranks);
  for (const auto& tree : job.channels.trees) expect_tree(tree);
}

TEST(ConnectNodes, EachRingAndTreeHoldsEveryRankOnce) {
  for (const Pattern pattern : {Pattern::Tree, Pattern::BalancedTree, Pattern::SplitTree}) {
    for (const int gpus : {2, 3, 8}) {
      for (int nnodes = 1; nnodes <= 33; ++nnodes) {
        SCOPED_TRACE(testing::Message()
                     << nnodes << " x " << gpus << " GPUs, pattern " << static_cast<int>(pattern));
        NodeReport node = small::node(gpus, 4, pattern);
        node.graphs[GraphId::Ring].cross_nic = 2;
        expect_whole(small::connect(node, nnodes));
      }
    }
  }
}

TEST(ConnectNodes, NodesOfOneGpuAreJoinedToo) {
  for (int nnodes = 1; nnodes <= 64; ++nnodes) {
    expect_whole(small::connect(small::node(1, 2), nnodes));
  }
}

TEST(ConnectNodes, UnlikeNodesOfScatteredRanksAreJoined) {
  const std::vector<NodeReport> reports{small::node(2, 4, Pattern::BalancedTree),
                                        small::node(5, 3, Pattern::SplitTree), small::node(1, 6)};
  const std::vector<JobNode> nodes{
      {1, {6, 0, 2, 10, 4}}, {0, {9, 1}}, {2, {3}}, {0, {5, 8}}, {2, {7}}};
  const auto job = connect_nodes(reports, nodes, {});
  ASSERT_TRUE(job);
  EXPECT_EQ(job->shape.nranks, 11);
  EXPECT_EQ(job->shape.nchannels, 6);
  expect_whole(*job);
}

TEST(ConnectNodes, JoinsAThousandNodes) {
  const Connection job = small::connect(small::nvls_node(8, 90), 1024);
  EXPECT_EQ(job.shape.nranks, 8192);
  EXPECT_EQ(job.channels.count(), 16);
  expect_whole(job);
}

}  // namespace
}  // namespace ringside
