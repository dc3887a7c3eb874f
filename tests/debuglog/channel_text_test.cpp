#include "engine/debuglog/channel_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace ringside {
namespace {

using testing::EndsWith;

ConnectionFacts between(ConnectionEnd from, ConnectionEnd to, Medium medium) {
  return {.channel = 0, .from = from, .to = to, .medium = medium};
}
const ConnectionEnd kThree{3, 3, 0x5d000};
const ConnectionEnd kFour{4, 4, 0x9a000};
const ConnectionEnd kSeven{7, 7, 0xdb000};
const ConnectionEnd kEight{8, 0, 0x1b000};

TEST(ChannelText, RingsOfRankZeroAreListedInTwoForms) {
  const std::vector<int> eight{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(channel_ring_text({23, 4}, 0, 16, eight),
            "Channel 00/16 :    0   1   2   3   4   5   6   7");
  EXPECT_EQ(channel_ring_text({24, 3}, 0, 16, eight), "Channel 00/16 : 0 1 2 3 4 5 6 7");
}

TEST(ChannelText, LongRingsAreCut) {
  std::vector<int> ranks(1024);
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::string old = channel_ring_text({23, 4}, 0, 16, ranks);
  EXPECT_THAT(old, EndsWith("  18  19")) << "20 ranks, and no sign that there are more";
  const std::string later = channel_ring_text({24, 3}, 0, 16, ranks);
  EXPECT_THAT(later, EndsWith(" ..."));
  EXPECT_LE(later.size(), 127U);
  EXPECT_GE(later.size(), 124U) << "as many as there is room for";
}

TEST(ChannelText, PlacesInRingsAndTrees) {
  EXPECT_EQ(ring_text(0, 2, 3, 4), "Ring 00 : 2 -> 3 -> 4");
  const TreeEdges leaf{.up = 2, .down = {4, -1, -1}};
  const TreeEdges root{.up = -1, .down = {4, 11, -1}};
  EXPECT_EQ(tree_text(1, 3, root), "Tree 1 : -1 -> 3 -> 4/11/-1");
  const std::vector<TreeEdges> trees{leaf, root};
  EXPECT_EQ(trees_text({10, 3}, 3, trees), "Trees [0] 4/-1/-1->3->2 [1] 4/11/-1->3->-1");
  EXPECT_EQ(trees_text({7, 8}, 3, trees), "Trees [0] 4/-1/-1->3->2|-1->3->4/11/-1");
}

TEST(ChannelText, P2pNamesTheConnectionSince214AndTheDeviceSince218) {
  ConnectionFacts p2p = between(kThree, kFour, Medium::P2pIpc);
  EXPECT_EQ(connection_text({13, 4}, p2p), "Channel 00 : 3[5d000] -> 4[9a000] via P2P/IPC");
  EXPECT_EQ(connection_text({14, 3}, p2p), "Channel 00/0 : 3[5d000] -> 4[9a000] via P2P/IPC");
  p2p.medium = Medium::P2pCuMem;
  p2p.is_read = true;
  EXPECT_EQ(connection_text({20, 5}, p2p), "Channel 00/0 : 3[3] -> 4[4] via P2P/CUMEM/read");
  p2p.medium = Medium::P2pIndirect;
  p2p.is_read = false;
  p2p.through = kSeven;
  EXPECT_EQ(connection_text({20, 5}, p2p), "Channel 00/0 : 3[3] -> 4[4] via P2P/indirect/7[7]");
}

TEST(ChannelText, SharedMemoryIsLoggedInThreeWays) {
  const ConnectionFacts shm = between(kThree, kFour, Medium::Shm);
  EXPECT_EQ(connection_text({12, 12}, shm),
            "Channel 00 : 3[5d000] -> 4[9a000] via direct shared memory");
  EXPECT_EQ(connection_text({18, 5}, shm), "Channel 00 : 3[3] -> 4[4] via SHM/direct/direct");
  EXPECT_EQ(connection_text({30, 7}, shm), "Channel 00 : 3[3] -> 4[4] via SHM/direct");
}

TEST(ChannelText, TheSenderNamesWhoseNicItIs) {
  ConnectionFacts net = between(kSeven, kEight, Medium::NetSend);
  net.channel = 2;
  net.network = "IB";
  net.net_device = 2;
  net.proxy_rank = 3;
  net.is_gdr = true;
  EXPECT_EQ(connection_text({21, 5}, net),
            "Channel 02/0 : 7[7] -> 8[0] [send] via NET/IB/2(3)/GDRDMA");
  EXPECT_EQ(connection_text({11, 4}, net),
            "Channel 02 : 7[db000] -> 8[1b000] [send] via NET/IB/2/GDRDMA")
      << "before there was PXN";
  net.medium = Medium::NetReceive;
  net.network = "AWS Libfabric";
  net.is_shared = true;
  EXPECT_EQ(connection_text({21, 5}, net),
            "Channel 02/0 : 7[7] -> 8[0] [receive] via NET/AWS Libfabric/2/GDRDMA/Shared");
}

TEST(ChannelText, From231OnAGdrReceiverNamesTheFlush) {
  ConnectionFacts net = between(kSeven, kEight, Medium::NetReceive);
  net.network = "IB";
  net.is_gdr = net.is_shared = true;
  EXPECT_THAT(connection_text({30, 7}, net), EndsWith("/GDRDMA/Shared"));
  EXPECT_THAT(connection_text({31, 2}, net), EndsWith("/GDRDMA/Shared/flush=Always"));
  net.is_gdr = false;
  EXPECT_THAT(connection_text({31, 2}, net), EndsWith("/0/Shared"));
  net.medium = Medium::NetSend;
  net.is_gdr = true;
  EXPECT_THAT(connection_text({31, 2}, net), EndsWith("/GDRDMA/Shared"));
}

TEST(ChannelText, GdrOverPciIsLoggedFrom226On) {
  ConnectionFacts net = between(kSeven, kEight, Medium::NetReceive);
  net.network = "IB";
  net.is_gdr = net.is_pci_mapped = true;
  EXPECT_THAT(connection_text({25, 1}, net), EndsWith("/GDRDMA"));
  EXPECT_THAT(connection_text({26, 6}, net), EndsWith("/GDRDMA(PCI)"));
  net.is_gdr = false;
  EXPECT_THAT(connection_text({26, 6}, net), EndsWith("NET/IB/0"));
}

TEST(ChannelText, RingsNameTheirTransportsFrom224On) {
  EXPECT_EQ(connected_rings_text({23, 4}, {true, true}), "Connected all rings");
  EXPECT_EQ(connected_rings_text({24, 3}, {false, true}),
            "Connected all rings, use ring PXN 0 GDR 1");
}

}  // namespace
}  // namespace ringside
