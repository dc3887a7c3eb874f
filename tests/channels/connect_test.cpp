#include "engine/channels/connect.h"

#include <gtest/gtest.h>

#include "tests/channels/small_nodes.h"

namespace ringside {
namespace {

std::vector<Rank> ranks(std::initializer_list<int> numbers) {
  std::vector<Rank> all;
  for (const int number : numbers) all.push_back(Rank{number});
  return all;
}

const Channels::TreePlace& place(const Connection& connection, std::size_t channel, int rank) {
  return connection.channels.trees[channel][static_cast<std::size_t>(rank)];
}

/// Returns a node of 8 GPUs and 8 NICs: ring c enters next to GPU c and leaves by GPU c xor 1.
NodeReport dgx_h100() {
  NodeReport report = small::nvls_node(8, 90);
  Graph& ring = report.graphs[GraphId::Ring];
  ring.cross_nic = 2;
  ring.bw_intra = ring.bw_inter = 48;
  for (int channel = 0; channel < 8; ++channel) {
    const int step = channel % 2 == 0 ? 7 : 1;  // even channels walk downwards
    for (int i = 0; i < 8; ++i) {
      ring.intra[static_cast<std::size_t>(channel)][static_cast<std::size_t>(i)] =
          (channel + step * i) % 8;
    }
  }
  report.p2p_channels_per_peer = 4;
  return report;
}

TEST(ConnectNodes, RingsOfFourDgxH100KeepToTheirRails) {
  const Connection job = small::connect(dgx_h100(), 4);
  ASSERT_EQ(job.channels.count(), 16);
  EXPECT_EQ(job.channels.rings[0],
            ranks({0,  7,  6,  5,  4,  3,  2,  1,  9,  10, 11, 12, 13, 14, 15, 8,
                   16, 23, 22, 21, 20, 19, 18, 17, 25, 26, 27, 28, 29, 30, 31, 24}));
  EXPECT_EQ(job.channels.rings[1][1], Rank{8});
  EXPECT_EQ(job.channels.rings[1].back(), Rank{7});
  EXPECT_EQ(job.channels.rings[8], job.channels.rings[0]);
}

TEST(ConnectNodes, TreesOfFourDgxH100AreChainsJoinedByTwoTrees) {
  const Connection job = small::connect(dgx_h100(), 4);
  EXPECT_EQ(place(job, 0, 0).parent, kNoRank);
  EXPECT_EQ(place(job, 0, 0).children, ranks({1, 16}));
  EXPECT_EQ(place(job, 1, 0).parent, Rank{7});
  EXPECT_TRUE(place(job, 1, 0).children.empty());
  EXPECT_EQ(place(job, 8, 0).parent, Rank{8});
  EXPECT_EQ(place(job, 8, 0).children, ranks({1}));
  EXPECT_EQ(job.channels.tree_depth, 9);
}

TEST(ConnectNodes, NvlsTreesJoinTheHeadsOfEachNumber) {
  const Connection job = small::connect(dgx_h100(), 4);
  EXPECT_EQ(job.channels.nvls.heads[3], ranks({3, 11, 19, 27}));
  EXPECT_EQ(job.channels.nvls.trees[0][0].parent, kNoRank);
  EXPECT_EQ(job.channels.nvls.trees[0][0].children, ranks({16}));
  EXPECT_EQ(job.channels.nvls.trees[1][0].parent, Rank{8});
}

// On the parent, the edge to its second child leaves from the chain's first GPU, to the first child
// from the second GPU. Node 2 of 4 has the children 1 and 3.
TEST(ConnectNodes, BalancedTreesSpreadTheChildrenOverTwoGpus) {
  const Connection job = small::connect(small::node(4, 1, Pattern::BalancedTree), 4);
  EXPECT_EQ(place(job, 0, 8).children, ranks({9, 12}));
  EXPECT_EQ(place(job, 0, 9).children, ranks({10, 4}));
  EXPECT_EQ(place(job, 0, 4).parent, Rank{9});
  EXPECT_EQ(place(job, 0, 12).parent, Rank{8});
}

TEST(ConnectNodes, SplitTreesHaveTheParentOnOneGpuAndTheChildrenOnTheNext) {
  const Connection job = small::connect(small::node(4, 1, Pattern::SplitTree), 4);
  EXPECT_EQ(place(job, 0, 8).parent, Rank{1});
  EXPECT_EQ(place(job, 0, 8).children, ranks({9}));
  EXPECT_EQ(place(job, 0, 9).children, ranks({10, 4, 12}));
}

// 3 channels cannot be swapped in pairs.
TEST(ConnectNodes, OddNodesSwapNoRingsWhereChannelsAreOdd) {
  NodeReport node = small::node(2, 3);
  node.graphs[GraphId::Ring].cross_nic = 2;
  EXPECT_EQ(small::connect(node, 2).channels.rings[0], ranks({0, 1, 2, 3}));
  node = small::node(2, 2);
  node.graphs[GraphId::Ring].cross_nic = 2;
  EXPECT_EQ(small::connect(node, 2).channels.rings[0], ranks({0, 1, 3, 2}));
}

TEST(ConnectNodes, RingsBeginAtRankZeroWhereverTheNodesChannelDoes) {
  EXPECT_EQ(small::connect(small::node(3, 2), 2).channels.rings[1], ranks({0, 4, 5, 3, 1, 2}));
}

TEST(ConnectNodes, MergesTheLeastOfEachGraphAndTheWorstOfItsPaths) {
  std::vector<NodeReport> reports{small::node(4, 4), small::node(2, 3, Pattern::SplitTree)};
  Graph& ring = reports[1].graphs[GraphId::Ring];
  ring.bw_intra = 30;
  ring.bw_inter = 12;
  ring.type_intra = PathType::Sys;
  ring.latency_inter = 7;
  ring.cross_nic = 2;
  reports[1].min_cc = 70;
  reports[1].max_cc = 90;
  reports[1].cpu_vendor = CpuVendor::Amd;
  reports[1].is_all_nvlink = false;
  reports[1].net_count = 2;
  reports[1].min_net_bw = 24;
  const CommShape shape = connect_nodes(reports, small::nodes(reports, {0, 1, 0}), {})->shape;
  EXPECT_EQ(shape.nranks, 10);
  EXPECT_EQ(shape.nnodes, 3);
  EXPECT_EQ(shape.min_local_ranks, 2);
  EXPECT_EQ(shape.max_local_ranks, 4);
  EXPECT_EQ(shape.graph(GraphId::Ring).nchannels, 3);
  EXPECT_EQ(shape.graph(GraphId::Ring).bw_intra, 20);
  EXPECT_EQ(shape.graph(GraphId::Ring).bw_inter, 12);
  EXPECT_EQ(shape.graph(GraphId::Ring).type_intra, PathType::Sys);
  EXPECT_EQ(shape.graph(GraphId::Ring).latency_inter, 0);
  EXPECT_EQ(shape.graph(GraphId::Ring).cross_nic, 2);
  EXPECT_EQ(shape.graph(GraphId::Tree).pattern, Pattern::Tree);
  EXPECT_EQ(shape.max_tree_pattern, Pattern::Tree);
  EXPECT_EQ(shape.min_cc, 70);
  EXPECT_EQ(shape.max_cc, 90);
  EXPECT_EQ(shape.cpu_arch, CpuArch::X86);
  EXPECT_EQ(shape.cpu_vendor, CpuVendor::Mixed);
  EXPECT_FALSE(shape.is_all_nvlink);
  EXPECT_EQ(shape.min_net_count, 1);
  EXPECT_EQ(shape.min_net_bw, 24);
}

TEST(ConnectNodes, TakesTheFewerOfRingAndTreeChannels) {
  NodeReport node = small::node(4, 4);
  node.graphs[GraphId::Tree] = small::graph(GraphId::Tree, Pattern::Tree, 4, 3);
  const Connection job = small::connect(node, 1);
  EXPECT_EQ(job.shape.graph(GraphId::Ring).nchannels, 3);
  EXPECT_EQ(job.shape.nchannels, 6);
}

TEST(ConnectNodes, RefusesOtherNumbersOfNicsOnlyWhenAsked) {
  std::vector<NodeReport> reports{small::node(2, 2), small::node(2, 2)};
  reports[1].net_count = 4;
  const std::vector<JobNode> nodes = small::nodes(reports, {0, 1});
  EXPECT_TRUE(connect_nodes(reports, nodes, {}));
  ChannelParameters strict;
  strict.ignore_net_mismatch = false;
  const auto refused = connect_nodes(reports, nodes, strict);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "node 1 has 4 network devices for a rank, node 0 has 1");
}

TEST(ConnectNodesDeathTest, ARingThatOmitsAGpuIsABug) {
  NodeReport node = small::node(4, 1);
  node.graphs[GraphId::Ring].intra[0] = {0, 1, 2, 2};
  EXPECT_DEATH(small::connect(node, 2), "does not hold each of 4 GPUs once");
}

}  // namespace
}  // namespace ringside
