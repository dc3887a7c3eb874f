#include <gtest/gtest.h>

#include "engine/channels/connect.h"
#include "tests/channels/small_nodes.h"

namespace ringside {
namespace {

/// Returns the root of each channel's tree. With small::rotations() the roots distinguish the channels.
std::vector<Rank> tree_roots(const Connection& connection) {
  std::vector<Rank> roots;
  for (const std::vector<Channels::TreePlace>& tree : connection.channels.trees) {
    for (std::size_t rank = 0; rank < tree.size(); ++rank) {
      if (tree[rank].parent == kNoRank) roots.push_back(Rank{static_cast<int>(rank)});
    }
  }
  return roots;
}

std::vector<Rank> ranks(std::initializer_list<int> numbers) {
  std::vector<Rank> all;
  for (const int number : numbers) all.push_back(Rank{number});
  return all;
}

TEST(ChannelCounts, SearchedChannelsAreDoubled) {
  EXPECT_EQ(small::connect(small::node(8, 12), 1).shape.nchannels, 24);
  EXPECT_EQ(small::connect(small::node(8, 32), 1).shape.nchannels, 64);
}

TEST(ChannelCounts, TheMostIsAppliedBeforeTheLeastWhichRepeatsTheFirstChannels) {
  ChannelParameters parameters;
  parameters.max_channels = 3;
  // On one node, the tree of channel c has its root where the chain begins: GPU c mod 4.
  EXPECT_EQ(tree_roots(small::connect(small::node(4, 4), 1, parameters)), ranks({0, 1, 2}));
  parameters.min_channels = 7;
  EXPECT_EQ(tree_roots(small::connect(small::node(4, 4), 1, parameters)),
            ranks({0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(small::connect(small::node(4, 4), 1, parameters).channels.rings[4],
            small::connect(small::node(4, 4), 1).channels.rings[1]);
}

TEST(ChannelCounts, CtaLimitsBoundChannelsAsTheOthersDo) {
  ChannelParameters parameters;
  parameters.max_ctas = 5;
  EXPECT_EQ(small::connect(small::node(4, 4), 1, parameters).shape.nchannels, 5);
  parameters.max_channels = 4;
  EXPECT_EQ(small::connect(small::node(4, 4), 1, parameters).shape.nchannels, 4);
  parameters.min_ctas = 32;  // more than the most: lowered to 5
  EXPECT_EQ(small::connect(small::node(4, 4), 1, parameters).shape.nchannels, 5);
}

// 4 searched at 48 > 45 GB/s: 8, below 16, so 16. At 45 or on one node: 8.
TEST(ChannelCounts, FewFastChannelsAcrossNodesAreDoubledAgain) {
  NodeReport node = small::node(4, 4);
  node.min_cc = node.max_cc = 90;
  node.graphs[GraphId::Ring].bw_intra = 48;
  EXPECT_EQ(small::connect(node, 2).shape.nchannels, 16);
  EXPECT_EQ(small::connect(node, 1).shape.nchannels, 8);
  node.graphs[GraphId::Ring].bw_intra = 45;
  EXPECT_EQ(small::connect(node, 2).shape.nchannels, 8);
}

NodeReport collnet_node(int gpus, int nchannels) {
  NodeReport node = small::node(gpus, nchannels);
  node.graphs[GraphId::CollNetChain] =
      small::graph(GraphId::CollNetChain, Pattern::Tree, gpus, nchannels);
  node.graphs[GraphId::CollNetDirect] =
      small::graph(GraphId::CollNetDirect, Pattern::CollNetDirect, gpus, gpus);
  node.graphs[GraphId::CollNetChain].bw_intra = 40;  // twice what the network gives
  return node;
}

// 4 searched: 8, half as many again: 12, in which the last four repeat the first four. Below 16 and
// fast: 24, of which the last twelve repeat the first twelve, so channel 20 is 8 is 0.
TEST(ChannelCounts, CollNetAddsHalfBeforeFastLinksDouble) {
  ChannelParameters parameters;
  parameters.collnet_enable = true;
  NodeReport node = collnet_node(4, 4);
  EXPECT_EQ(small::connect(node, 2, parameters).shape.nchannels, 12);
  node.min_cc = node.max_cc = 90;
  node.graphs[GraphId::Ring].bw_intra = 48;
  const Connection job = small::connect(node, 2, parameters);
  EXPECT_EQ(job.shape.nchannels, 24);
  EXPECT_EQ(job.channels.rings[20], job.channels.rings[0]);
  EXPECT_EQ(tree_roots(job)[20], tree_roots(job)[0]);
  EXPECT_EQ(tree_roots(job)[16], tree_roots(job)[4]);
}

TEST(ChannelCounts, CollNetWantsItsVariableAndEnoughNodes) {
  const NodeReport node = collnet_node(4, 4);
  EXPECT_FALSE(small::connect(node, 2).shape.has_collnet);
  ChannelParameters parameters;
  parameters.collnet_enable = true;
  EXPECT_TRUE(small::connect(node, 2, parameters).shape.has_collnet);
  EXPECT_FALSE(small::connect(node, 1, parameters).shape.has_collnet);
  parameters.collnet_node_threshold = 3;
  EXPECT_FALSE(small::connect(node, 2, parameters).shape.has_collnet);
  EXPECT_EQ(small::connect(node, 2, parameters).shape.nchannels, 8);
}

TEST(ChannelCounts, CollNetHeadsBeginWithRankZeroWhereItIsOne) {
  ChannelParameters parameters;
  parameters.collnet_enable = true;
  NodeReport node = collnet_node(3, 2);
  std::swap(node.graphs[GraphId::CollNetDirect].intra[0],
            node.graphs[GraphId::CollNetDirect].intra[1]);
  const Channels::CollNet collnet = small::connect(node, 2, parameters).channels.collnet;
  EXPECT_EQ(collnet.heads, ranks({1, 0, 2}));
  EXPECT_EQ(collnet.direct_heads, ranks({0, 2, 1}));
  EXPECT_EQ(collnet.chain[3], (std::array{Rank{6}, Rank{4}}));
  EXPECT_EQ(collnet.chain[5], (std::array{Rank{4}, kNoRank}));
}

struct NvlsCase {
  int cc, gpus, nnodes;
  float nic;
  PathType type;
  int channels, chunk_kib, tree_chunk_kib;
};

TEST(NvlsSizes, FollowTheTableOfGenerationsNodesAndNics) {
  for (const NvlsCase& c : std::vector<NvlsCase>{
           {90, 8, 1, 48, PathType::Pix, 16, 128, 128},
           {90, 8, 3, 48, PathType::Pix, 16, 128, 128},
           {90, 8, 4, 48, PathType::Pix, 16, 128, 64},
           {100, 8, 1, 48, PathType::Pix, 24, 128, 128},
           {100, 4, 2, 48, PathType::Pix, 32, 256, 256},
           {100, 16, 2, 96, PathType::Phb, 32, 128, 64},
           {100, 8, 2, 48, PathType::Pxb, 32, 128, 64},
           {100, 8, 2, 48, PathType::Phb, 32, 128, 128},
           {100, 8, 2, 96, PathType::Pxb, 32, 128, 128},
           {100, 8, 4, 96, PathType::Pix, 24, 256, 256},
           {100, 16, 4, 96, PathType::Pix, 32, 128, 128},
           {100, 32, 4, 96, PathType::Pix, 32, 128, 64},
           {100, 8, 3, 48, PathType::Pix, 24, 128, 64},
           {100, 8, 4, 48, PathType::Phb, 24, 128, 128},
           {100, 8, 2, 24, PathType::Pix, 32, 128, 128},
           {100, 8, 4, 24, PathType::Pix, 32, 128, 64},
       }) {
    SCOPED_TRACE(testing::Message() << "cc " << c.cc << ", " << c.nnodes << " x " << c.gpus
                                    << " GPUs, " << c.nic << " GB/s, " << to_string(c.type));
    NodeReport node = small::nvls_node(c.gpus, c.cc);
    node.min_net_bw = c.nic;
    node.graphs[GraphId::Nvls].type_inter = c.type;
    const CommShape shape = small::connect(node, c.nnodes).shape;
    EXPECT_EQ(shape.nvls_channels, c.channels);
    EXPECT_EQ(shape.nvls_chunk, c.chunk_kib * 1024);
    EXPECT_EQ(shape.nvls_tree_chunk, c.tree_chunk_kib * 1024);
  }
}

TEST(NvlsSizes, TheEnvironmentWinsWithinTheCtaLimits) {
  ChannelParameters parameters;
  parameters.nvls_channels = 20;
  parameters.nvls_chunk = 262144;
  CommShape shape = small::connect(small::nvls_node(8, 90), 2, parameters).shape;
  EXPECT_EQ(shape.nvls_channels, 20);
  EXPECT_EQ(shape.nvls_chunk, 262144);
  EXPECT_EQ(shape.nvls_tree_chunk, 262144);
  parameters.max_ctas = 12;
  parameters.nvls_tree_chunk = 32768;
  shape = small::connect(small::nvls_node(8, 90), 2, parameters).shape;
  EXPECT_EQ(shape.nvls_channels, 12);
  EXPECT_EQ(shape.nvls_tree_chunk, 32768);
}

TEST(NvlsSizes, AreEmptyIfANodeHasNoHeads) {
  const std::vector<NodeReport> reports{small::nvls_node(4, 90), small::node(4, 8)};
  const auto job = connect_nodes(reports, small::nodes(reports, {0, 1}), {});
  EXPECT_FALSE(job->shape.has_nvls);
  EXPECT_EQ(job->shape.nvls_channels, 0);
  EXPECT_EQ(job->shape.nvls_chunk, 0);
  EXPECT_EQ(job->shape.nvls_heads, 0);
  EXPECT_TRUE(job->channels.nvls.heads.empty());
}

CommShape p2p_shape(int gpus, int nnodes, int per_peer, const ChannelParameters& parameters = {}) {
  NodeReport node = small::node(gpus, 8);
  node.p2p_channels_per_peer = per_peer;
  return small::connect(node, nnodes, parameters).shape;
}

// 16 channels. 16 ranks are 2 rounds of 8: 4 channels a peer make 8, 8 make 16, and 128 ranks leave 1.
TEST(P2pSizes, ManyPeersShareTheChannels) {
  EXPECT_EQ(p2p_shape(8, 2, 4).p2p_channels_per_peer, 4);
  EXPECT_EQ(p2p_shape(8, 2, 7).p2p_channels_per_peer, 8);
  EXPECT_EQ(p2p_shape(8, 2, 9).p2p_channels_per_peer, 8);
  EXPECT_EQ(p2p_shape(8, 16, 4).p2p_channels_per_peer, 1);
  ChannelParameters parameters;
  parameters.p2p_max_peers = 8;
  EXPECT_EQ(p2p_shape(8, 16, 4, parameters).p2p_channels_per_peer, 4);
  parameters.channels_per_net_peer = 4;
  EXPECT_EQ(p2p_shape(8, 16, 4, parameters).p2p_channels_per_peer, 4);
}

// 24 channels round up to 32; 36 a peer round up to 64 and down to those.
TEST(P2pSizes, OneNodeUsesPowersOfTwo) {
  NodeReport node = small::node(8, 12);
  node.p2p_channels_per_peer = 36;
  EXPECT_EQ(small::connect(node, 1).shape.p2p_channels, 32);
  EXPECT_EQ(small::connect(node, 1).shape.p2p_channels_per_peer, 32);
  ChannelParameters parameters;
  parameters.max_p2p_channels = 6;
  EXPECT_EQ(small::connect(node, 1, parameters).shape.p2p_channels, 8);
  parameters.min_p2p_channels = 20;
  EXPECT_EQ(small::connect(node, 1, parameters).shape.p2p_channels, 32);
}

TEST(P2pSizes, ChunksFollowTheSlowestLinkAndTheBuffer) {
  EXPECT_EQ(p2p_shape(8, 1, 2).p2p_chunk, 512 * 1024);
  EXPECT_EQ(p2p_shape(8, 2, 2).p2p_chunk, 128 * 1024);
  NodeReport node = small::node(8, 8);
  node.is_all_nvlink = false;
  EXPECT_EQ(small::connect(node, 1).shape.p2p_chunk, 128 * 1024);
  node.min_cc = node.max_cc = 100;
  node.cpu_arch = CpuArch::Arm;
  EXPECT_EQ(small::connect(node, 2).shape.p2p_chunk, 256 * 1024);
  ChannelParameters parameters;
  parameters.buffer = 1 << 20;  // an eighth of it is one step
  EXPECT_EQ(small::connect(node, 2, parameters).shape.p2p_chunk, 128 * 1024);
  parameters.p2p_net_chunk = 65536;
  EXPECT_EQ(small::connect(node, 2, parameters).shape.p2p_chunk, 65536);
}

TEST(Buffers, AreThoseOfTheEnvironmentOrNccls) {
  ChannelParameters parameters;
  parameters.buffer = 1 << 20;
  parameters.ll128_buffer = 1 << 21;
  const CommShape shape = small::connect(small::node(2, 1), 1, parameters).shape;
  EXPECT_EQ(shape.buffers, (std::array{524288, 1 << 21, 1 << 20}));
}

}  // namespace
}  // namespace ringside
