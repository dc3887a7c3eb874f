#include "engine/channels/rules.h"

#include <gtest/gtest.h>

#include "engine/channels/channel_counts.h"
#include "tests/channels/small_nodes.h"

namespace ringside {
namespace {

using small::connect;

ChannelParameters rules_of(const char* version) {
  ChannelParameters parameters;
  parameters.rules = *load_channel_rules(version);
  return parameters;
}

bool has_speed(const char* version, int sm, bool is_inter, float speed) {
  const ChannelRules rules = *load_channel_rules(version);
  const auto ladder = rules.search.ladders.of(sm, is_inter);
  return std::find(ladder.begin(), ladder.end(), speed) != ladder.end();
}

TEST(ChannelRules, SpeedsWereAddedReleaseByRelease) {
  EXPECT_FALSE(has_speed("2.18", 90, false, 50));
  EXPECT_TRUE(has_speed("2.19", 90, false, 50));
  EXPECT_FALSE(has_speed("2.20", 90, false, 11));
  EXPECT_TRUE(has_speed("2.21", 90, false, 11));
  EXPECT_FALSE(has_speed("2.18", 90, true, 22));
  EXPECT_TRUE(has_speed("2.19", 90, true, 22));
  EXPECT_FALSE(has_speed("2.24", 100, false, 90));
  EXPECT_TRUE(has_speed("2.25", 100, false, 90));
  EXPECT_FALSE(has_speed("2.26", 100, false, 18));
  EXPECT_TRUE(has_speed("2.27", 100, false, 18));
  EXPECT_FALSE(has_speed("2.28", 100, false, 45));
  EXPECT_TRUE(has_speed("2.29", 100, false, 45));
  EXPECT_FALSE(has_speed("2.29.3", 100, true, 80));
  EXPECT_TRUE(has_speed("2.29", 100, true, 80));
  EXPECT_FALSE(has_speed("2.29", 100, true, 86));
  EXPECT_TRUE(has_speed("2.30", 100, true, 86));
  EXPECT_FALSE(has_speed("2.30", 100, true, 90.2F));
  EXPECT_TRUE(has_speed("2.31", 100, true, 90.2F));
  EXPECT_EQ(load_channel_rules("2.18")->search.ladders.of(80, true).size(), 19U);
}

TEST(ChannelRules, ChannelsBecame64With225) {
  EXPECT_EQ(load_channel_rules("2.24")->counts.max_channels, 32);
  EXPECT_EQ(load_channel_rules("2.25")->counts.max_channels, 64);
}

// 4 searched channels at 48 GB/s across two nodes of Hopper: 8, doubled to 16.
TEST(ChannelRules, FewFastChannelsAreDoubledOnHopper) {
  const auto nchannels = [](const char* version, int cc, int searched) {
    NodeReport report = small::node(8, searched);
    report.min_cc = report.max_cc = cc;
    report.graphs[GraphId::Ring].bw_intra = 48;
    return connect(report, 2, rules_of(version)).shape.nchannels;
  };
  for (const char* const version : {"2.18", "2.20", "2.30"}) {
    EXPECT_EQ(nchannels(version, 90, 4), 16) << version;
    EXPECT_EQ(nchannels(version, 80, 4), 8) << version;
  }
  // Up to 2.19 as long as 32 are not exceeded, later only below 16.
  EXPECT_EQ(nchannels("2.19", 90, 8), 32);
  EXPECT_EQ(nchannels("2.20", 90, 8), 16);
  EXPECT_EQ(nchannels("2.24", 100, 4), 8);
  EXPECT_EQ(nchannels("2.25", 100, 4), 16);
}

// 4 searched channels within one node: 8, and 16 of NVLS.
TEST(ChannelRules, ChannelsGrewToThoseOfNvlsBetween220And227) {
  const auto shape = [](const char* version) {
    NodeReport report = small::nvls_node(8, 90);
    for (const GraphId id : {GraphId::Ring, GraphId::Tree}) {
      report.graphs[id] = small::graph(id, report.graphs[id].pattern, 8, 4);
    }
    return connect(report, 1, rules_of(version)).shape;
  };
  for (const char* const version : {"2.18", "2.19", "2.28", "2.30"}) {
    EXPECT_EQ(shape(version).nchannels, 8) << version;
  }
  for (const char* const version : {"2.20", "2.27"}) {
    EXPECT_EQ(shape(version).nchannels, 16) << version;
    EXPECT_EQ(shape(version).collective_channels, 8) << version;
  }
}

TEST(ChannelRules, NvlsChannelsOfBlackwell) {
  const auto nvls = [](const char* version, int nnodes) {
    return connect(small::nvls_node(8, 100), nnodes, rules_of(version)).shape.nvls_channels;
  };
  EXPECT_EQ(nvls("2.24", 1), 16);
  EXPECT_EQ(nvls("2.25", 1), 32);
  EXPECT_EQ(nvls("2.26", 2), 32);
  EXPECT_EQ(nvls("2.27", 1), 24);
  EXPECT_EQ(nvls("2.27", 2), 32);
  EXPECT_EQ(nvls("2.29", 4), 32);
  EXPECT_EQ(nvls("2.30", 4), 24);  // NICs of 48 GB/s
}

// Two channels that go round four GPUs in opposite ways; two nodes. Node 1 holds ranks 4 .. 7.
TEST(ChannelRules, OddNodesSwapRingsByTheRelease) {
  const auto is_swapped = [](const char* version, int cross_nic, int nnodes) {
    NodeReport report = small::node(4, 2);
    Graph& ring = report.graphs[GraphId::Ring];
    ring.cross_nic = cross_nic;
    ring.intra = {{0, 1, 2, 3}, {3, 2, 1, 0}};
    return connect(report, nnodes, rules_of(version)).channels.rings[0][4] != Rank{4};
  };
  EXPECT_FALSE(is_swapped("2.19", 1, 2));
  EXPECT_TRUE(is_swapped("2.20", 1, 2));
  EXPECT_FALSE(is_swapped("2.20", 1, 3));
  EXPECT_TRUE(is_swapped("2.21", 1, 3));
  EXPECT_TRUE(is_swapped("2.25", 1, 2));
  EXPECT_FALSE(is_swapped("2.26", 1, 2));
  EXPECT_TRUE(is_swapped("2.26", 2, 2));
  EXPECT_TRUE(is_swapped("2.30", 2, 2));
}

// Local peers allow 2; 16 ranks, 32 channels. Up to 2.19 two across nodes; then no fewer than the NICs that fill a
// GPU's link, halved while there are more than four operations a channel.
TEST(ChannelRules, ChannelsToAPeerOnAnotherNode) {
  const auto per_peer = [](const char* version, int nics, int nnodes) {
    NodeReport report = small::node(8, 8);
    report.p2p_channels_per_peer = 16;
    report.net_count = nics;
    return connect(report, nnodes, rules_of(version)).shape.p2p_channels_per_peer;
  };
  EXPECT_EQ(per_peer("2.18", 4, 2), 2);
  EXPECT_EQ(per_peer("2.20", 4, 2), 4);
  EXPECT_EQ(per_peer("2.20", 0, 2), 2);
  EXPECT_EQ(per_peer("2.28", 0, 16), 1);  // 2 x 128 ranks > 4 x 16 channels
  EXPECT_EQ(per_peer("2.28", 0, 1), 16);
}

TEST(ChannelRules, ArmHostsHadSmallerBuffers) {
  NodeReport report = small::node(1, 8);
  report.cpu_arch = CpuArch::Arm;
  EXPECT_EQ(connect(report, 2, rules_of("2.18")).shape.buffers[2], 1 << 20);
  EXPECT_EQ(connect(report, 2, rules_of("2.19")).shape.buffers[2], 4 << 20);
}

}  // namespace
}  // namespace ringside
