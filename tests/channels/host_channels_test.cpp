#include <gtest/gtest.h>

#include <algorithm>

#include "engine/channels/channels.h"

namespace ringside {
namespace {

using TreePlace = Channels::TreePlace;

const TreePlace& place_of(const std::vector<TreePlace>& tree, int rank) {
  return tree[static_cast<std::size_t>(rank)];
}

/// Returns the hops from the rank to the root; -1 if parents and children disagree on the path.
int hops_to_root(const std::vector<TreePlace>& tree, int rank) {
  int hops = 0;
  for (int at = rank; place_of(tree, at).parent != kNoRank; ++hops) {
    const int parent = to_int(place_of(tree, at).parent);
    const auto& children = place_of(tree, parent).children;
    if (std::ranges::count(children, Rank{at}) != 1 || hops > 1000) return -1;
    at = parent;
  }
  return hops;
}

TEST(HostChannels, RingsRunInNaturalOrder) {
  const Channels channels = host_channels(3, 2);
  ASSERT_EQ(channels.count(), 2);
  EXPECT_EQ(channels.rings[1], (std::vector{Rank{0}, Rank{1}, Rank{2}}));
  EXPECT_EQ(host_channels(1, 1).rings[0], std::vector{Rank{0}});
}

// 64 ranks on one node: both trees reach all of them within 6 hops, with at most 2 children a rank.
TEST(HostChannels, TreesOfOneNodeAreBinaryAndShallow) {
  const Channels channels = host_channels(64, 2);
  ASSERT_EQ(channels.trees.size(), 2U);
  for (const std::vector<TreePlace>& tree : channels.trees) {
    for (int rank = 0; rank < 64; ++rank) {
      EXPECT_LE(place_of(tree, rank).children.size(), 2U);
      EXPECT_GE(hops_to_root(tree, rank), 0);
      EXPECT_LE(hops_to_root(tree, rank), 6);
    }
  }
}

// With an even number of ranks each one is a leaf in one of the two trees.
TEST(HostChannels, ALeafOfOneTreeWorksInTheOther) {
  const Channels channels = host_channels(16, 4);
  for (int rank = 0; rank < 16; ++rank) {
    const bool is_leaf_first = place_of(channels.trees[0], rank).children.empty();
    const bool is_leaf_second = place_of(channels.trees[2], rank).children.empty();
    EXPECT_NE(is_leaf_first, is_leaf_second) << rank;
  }
}

// 4 nodes of 4: a node's first rank has the node's chain and the other nodes below it, at most 3 children.
TEST(HostChannels, TreesOfSeveralNodesEnterEachNodeOnce) {
  const Channels channels = host_channels(16, 1, 4);
  ASSERT_EQ(channels.nodes.size(), 4U);
  int edges_between_nodes = 0;
  for (int rank = 0; rank < 16; ++rank) {
    const TreePlace& place = place_of(channels.trees[0], rank);
    EXPECT_LE(place.children.size(), 3U);
    EXPECT_GE(hops_to_root(channels.trees[0], rank), 0);
    if (place.parent != kNoRank && to_int(place.parent) / 4 != rank / 4) ++edges_between_nodes;
  }
  EXPECT_EQ(edges_between_nodes, 3);
}

// 3, 3 and 1 ranks: only the first rank of each node has a counterpart on all of them.
TEST(HostChannels, HeadsAreTheRanksThatEveryNodeHas) {
  const Channels channels = host_channels(7, 1, 3);
  const std::vector<std::vector<Rank>> rails{{Rank{0}, Rank{3}, Rank{6}}};
  EXPECT_EQ(channels.nvls.heads, rails);
  EXPECT_EQ(channels.collnet.rails, rails);
  EXPECT_EQ(channels.collnet.chain[4], (std::array{Rank{3}, Rank{5}}));
  EXPECT_EQ(channels.collnet.chain[6], (std::array{Rank{7}, kNoRank}));  // 7: the network
  EXPECT_EQ(channels.nvls.trees.size(), 2U);
  EXPECT_TRUE(host_channels(7, 1).nvls.trees.empty());
}

}  // namespace
}  // namespace ringside
