#include "engine/channels/channels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/channels/bounds.h"

namespace ringside {
namespace {

Cluster dgx_cluster(int nodes) { return *make_cluster(*load_node("dgx-h100"), nodes); }

/// A node of so many GPUs, with NICs beside the given ones.
Cluster odd_cluster(int gpus, std::vector<int> nic_gpu, int nodes) {
  NodeType node = *load_node("dgx-h100");
  node.gpus = gpus;
  node.nic_gpu = std::move(nic_gpu);
  return *make_cluster(node, nodes);
}

std::vector<Rank> ranks(std::initializer_list<int> numbers) {
  std::vector<Rank> all;
  for (const int number : numbers) all.push_back(Rank{number});
  return all;
}

void expect_each_rank_once(const Channels& channels, int nranks) {
  for (const std::vector<Rank>& ring : channels.rings) {
    std::vector<Rank> sorted = ring;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(static_cast<int>(sorted.size()), nranks);
    for (int rank = 0; rank < nranks; ++rank) {
      ASSERT_EQ(sorted[static_cast<std::size_t>(rank)], Rank{rank});
    }
    ASSERT_EQ(ring.front(), Rank{0});
  }
}

/// A ring's way from one node to the next: the NICs it leaves and enters by.
struct Crossing {
  int from_node;
  int leaves_by;
  int enters_by;
};

std::vector<Crossing> crossings(const Cluster& cluster, const std::vector<Rank>& ring) {
  std::vector<Crossing> all;
  const int gpus = cluster.node.gpus;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const int from = to_int(ring[i]);
    const int to = to_int(ring[(i + 1) % ring.size()]);
    if (from / gpus == to / gpus) continue;
    all.push_back({from / gpus, cluster.node.nic_of(from % gpus), cluster.node.nic_of(to % gpus)});
  }
  return all;
}

TEST(ClusterChannels, EachRingPassesEveryRankOnce) {
  for (const int nodes : {1, 2, 3, 4, 5, 16}) {
    expect_each_rank_once(cluster_channels(dgx_cluster(nodes)), 8 * nodes);
    expect_each_rank_once(cluster_channels(odd_cluster(4, {3}, nodes)), 4 * nodes);
    expect_each_rank_once(cluster_channels(odd_cluster(6, {5, 1, 3}, nodes)), 6 * nodes);
    expect_each_rank_once(cluster_channels(odd_cluster(1, {0}, nodes)), nodes);
    expect_each_rank_once(cluster_channels(odd_cluster(8, {0, 4}, nodes)), 8 * nodes);
  }
}

// NCCL's own connection of 4 such nodes.
TEST(ClusterChannels, FourDgxNodesAreConnectedAsNcclDoes) {
  const Channels channels = cluster_channels(dgx_cluster(4));
  ASSERT_EQ(channels.count(), 16);
  EXPECT_EQ(channels.rings[0],
            ranks({0,  7,  6,  5,  4,  3,  2,  1,  9,  10, 11, 12, 13, 14, 15, 8,
                   16, 23, 22, 21, 20, 19, 18, 17, 25, 26, 27, 28, 29, 30, 31, 24}));
  EXPECT_EQ(channels.rings[1][1], Rank{8});
  EXPECT_EQ(channels.rings[1].back(), Rank{7});
  EXPECT_EQ(channels.rings[8], channels.rings[0]);
}

// 8 search rings doubled; one node: 370.8 GB/s hold 12 lanes of 30, doubled.
TEST(ClusterChannels, AreAsManyAsNcclEndsUpWith) {
  EXPECT_EQ(cluster_channels(dgx_cluster(2)).count(), 16);
  EXPECT_EQ(cluster_channels(dgx_cluster(1)).count(), 24);
}

TEST(ClusterChannels, EachWayBetweenNodesStaysOnOneRail) {
  for (const int nodes : {2, 4, 6, 16}) {
    const Cluster cluster = dgx_cluster(nodes);
    for (const std::vector<Rank>& ring : cluster_channels(cluster).rings) {
      const auto ways = crossings(cluster, ring);
      ASSERT_EQ(static_cast<int>(ways.size()), nodes);
      for (const Crossing& way : ways) EXPECT_EQ(way.leaves_by, way.enters_by);
    }
  }
}

TEST(ClusterChannels, WithAnOddNumberOfNodesOneWayCrossesRails) {
  const Cluster cluster = dgx_cluster(3);
  for (const std::vector<Rank>& ring : cluster_channels(cluster).rings) {
    const auto ways = crossings(cluster, ring);
    EXPECT_EQ(std::count_if(ways.begin(), ways.end(),
                            [](const Crossing& way) { return way.leaves_by != way.enters_by; }),
              1);
  }
}

// 2 x 8 rings over 8 NICs a node: 2 rings out of each, 2 into each.
TEST(ClusterChannels, EachNicCarriesAsManyRingsAsTheOthers) {
  for (const int nodes : {2, 3, 4, 7}) {
    const Cluster cluster = dgx_cluster(nodes);
    std::map<std::pair<int, int>, int> out;
    std::map<std::pair<int, int>, int> in;
    for (const std::vector<Rank>& ring : cluster_channels(cluster).rings) {
      for (const Crossing& way : crossings(cluster, ring)) {
        ++out[{way.from_node, way.leaves_by}];
        ++in[{(way.from_node + 1) % nodes, way.enters_by}];
      }
    }
    ASSERT_EQ(static_cast<int>(out.size()), 8 * nodes);
    ASSERT_EQ(static_cast<int>(in.size()), 8 * nodes);
    for (const auto& [nic, rings] : out) EXPECT_EQ(rings, 2);
    for (const auto& [nic, rings] : in) EXPECT_EQ(rings, 2);
  }
}

// 16 rings, 2 of them through each NIC: 48 x 16 / 2 = 384 GB/s. Through each GPU link go the 14 others:
// 370.8 x 16 / 14 = 423.8. On one node all 24 go through each GPU link.
TEST(RingBounds, AreWhereTheBusiestLinkIsFull) {
  const RingBounds two = ring_bounds(dgx_cluster(2), cluster_channels(dgx_cluster(2)), 16);
  EXPECT_DOUBLE_EQ(two.nics.value, 384e9);
  EXPECT_DOUBLE_EQ(two.gpu_links.value, 370.8e9 * 16 / 14);
  const RingBounds one = ring_bounds(dgx_cluster(1), cluster_channels(dgx_cluster(1)), 24);
  EXPECT_DOUBLE_EQ(one.gpu_links.value, 370.8e9);
  EXPECT_TRUE(std::isinf(one.nics.value));
  // One ring leaves each node by one NIC.
  const RingBounds alone = ring_bounds(dgx_cluster(2), cluster_channels(dgx_cluster(2)), 1);
  EXPECT_DOUBLE_EQ(alone.nics.value, 48e9);
}

TEST(HostChannels, RunInNaturalOrder) {
  const Channels channels = host_channels(3, 2);
  ASSERT_EQ(channels.count(), 2);
  EXPECT_EQ(channels.rings[1], ranks({0, 1, 2}));
  expect_each_rank_once(host_channels(1, 1), 1);
}

}  // namespace
}  // namespace ringside
