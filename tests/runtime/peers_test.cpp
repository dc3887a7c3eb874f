#include "engine/runtime/bootstrap/peers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/transport/rdma/rdma.h"

namespace ringside {
namespace {

/// Returns ranks that have all transports open that need no adapter, each on the host that its letter names, with that
/// host's cores.
std::vector<PeerInfo> ranks_on(const std::string& hosts, std::uint64_t cores = 0xff) {
  std::vector<PeerInfo> all;
  for (const char host : hosts) {
    PeerInfo info{.where = {.host = std::string(1, host)}, .cache = 1 << 20};
    for (const Transport& transport : transports()) {
      if (transport.listen == open_rdma) continue;
      info.where.open.push_back({std::string(transport.name), ""});
    }
    info.cores[0] = cores;
    all.push_back(info);
  }
  return all;
}

HostLayout layout_of(const std::string& hosts, std::uint32_t me = 0) {
  return *Peers(ranks_on(hosts), nullptr).layout(me);
}

TEST(Peers, TheHopsOfTheRingNameTheTransportsAndTheSlowestOfThem) {
  EXPECT_EQ(layout_of("a").transport, "none");
  EXPECT_EQ(layout_of("aaa").transport, "shm");
  EXPECT_EQ(layout_of("ab").transport, "tcp");
  EXPECT_EQ(layout_of("aabb").transport, "shm+tcp");
  EXPECT_EQ(layout_of("aabb").slowest->name, "tcp");
  EXPECT_EQ(layout_of("aaa").slowest->name, "shm");
}

TEST(Peers, HostsOfEquallyManyNeighboursAreNodes) {
  EXPECT_EQ(layout_of("aabb").ranks_per_node, 2);
  EXPECT_EQ(layout_of("aabbcc").ranks_per_node, 2);
  EXPECT_EQ(layout_of("abc").ranks_per_node, 1);
  EXPECT_EQ(layout_of("aaaa").ranks_per_node, 0);  // one host
  EXPECT_EQ(layout_of("aab").ranks_per_node, 0);
  EXPECT_EQ(layout_of("abab").ranks_per_node, 1);  // neighbours lie on different hosts
}

// Host a has ranks 0 to 2 on two cores, host b rank 3 on its own two.
TEST(Peers, MoreRanksThanCoresOnAnyHostAreACrowdOnAll) {
  std::vector<PeerInfo> all = ranks_on("aaab", 1);
  all[1].cores[0] = 2;
  const Peers peers(all, nullptr);
  EXPECT_TRUE(peers.layout(3)->is_crowded);
  EXPECT_EQ(peers.layout(0)->local_ranks, 3);
  EXPECT_EQ(peers.layout(0)->local_cores, 2);
  EXPECT_EQ(peers.layout(3)->local_ranks, 1);
  EXPECT_EQ(peers.layout(3)->local_cores, 1);
  EXPECT_FALSE(layout_of("aaab").is_crowded);
}

TEST(Peers, TheLeastCacheCounts) {
  std::vector<PeerInfo> all = ranks_on("aa");
  all[1].cache = 4096;
  EXPECT_EQ(Peers(all, nullptr).layout(0)->cache, 4096_B);
}

TEST(Peers, RanksThatTheRequestedTransportDoesNotJoinAreNamed) {
  std::vector<PeerInfo> all = ranks_on("aab");
  for (PeerInfo& info : all) {
    std::erase_if(info.where.open, [](const auto& open) { return open.transport != "shm"; });
  }
  const auto layout = Peers(all, *parse_transport("shm")).layout(0);
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(layout.error().message, "shm connects ranks of one host, but not ranks 1 and 2");
}

}  // namespace
}  // namespace ringside
