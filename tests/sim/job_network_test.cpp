#include "sim/job_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/requests.h"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Job job_of(const std::string& on, int nodes) {
  return *make_job(*load_hosts(on, nodes, std::nullopt), {}, {});
}

std::vector<std::string> names(const SimNetwork& network, const SimRoute& route) {
  std::vector<std::string> all;
  for (const int link : route.links) all.push_back(network.link(link).name);
  return all;
}

TEST(JobNetwork, RanksOfANodeTalkOverNvlink) {
  const Job job = job_of("dgx-h100", 2);
  const JobNetwork network(job, GraphId::Ring, {});
  const SimRoute route = network.route(Rank{9}, Rank{12}, 0);
  EXPECT_THAT(names(network, route),
              ElementsAre("node 1: GPU 1 -> NVSwitch", "node 1: NVSwitch -> GPU 4"));
  EXPECT_EQ(route.slowest, StepLink::NvLink);
  EXPECT_NEAR(network.link(route.links[0]).rate.value, 370.8e9, 1e6);  // 18 links of 20.6 GB/s
}

TEST(JobNetwork, RanksOfDifferentNodesTalkOverTheGraphsNics) {
  const Job job = job_of("dgx-h100", 2);
  const JobNetwork network(job, GraphId::Ring, {});
  const std::vector<Rank>& ring = job.connection.channels.rings[3];
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Rank to = ring[(i + 1) % ring.size()];
    if (to_int(ring[i]) / 8 == to_int(to) / 8) continue;
    const SimRoute route = network.route(ring[i], to, 3);
    EXPECT_EQ(route.slowest, StepLink::Net);
    // On this host each GPU has a NIC behind its own PCI switch.
    const std::string out = std::to_string(to_int(ring[i]) % 8);
    const std::string in = std::to_string(to_int(to) % 8);
    EXPECT_THAT(testing::PrintToString(names(network, route)),
                testing::AllOf(HasSubstr("-> mlx5_" + out), HasSubstr("mlx5_" + in + " ->")));
  }
}

// Without a graph rank 0 sends by the NIC beside GPU 3, to which NVLink leads: PXN.
TEST(JobNetwork, PointToPointLeavesOnThePeersRail) {
  const Job job = job_of("dgx-h100", 2);
  const JobNetwork network(job, std::nullopt, {});
  const std::vector<std::string> route = names(network, network.route(Rank{0}, Rank{11}, 0));
  ASSERT_GE(route.size(), 4U);
  EXPECT_EQ(route[0], "node 0: GPU 0 -> NVSwitch");
  EXPECT_EQ(route[1], "node 0: NVSwitch -> GPU 3");
  EXPECT_THAT(testing::PrintToString(route), HasSubstr("-> mlx5_3"));

  TopologyParameters no_pxn;
  no_pxn.pxn_disable = true;
  const JobNetwork direct(job, std::nullopt, no_pxn);
  EXPECT_THAT(testing::PrintToString(names(direct, direct.route(Rank{0}, Rank{11}, 0))),
              HasSubstr("-> mlx5_0"));
}

TEST(JobNetwork, AGroupCrossesTheLinksOfAllItsMembers) {
  const Job job = job_of("dgx-h100", 1);
  const JobNetwork network(job, GraphId::Nvls, {});
  SwitchGroup group;
  for (int rank = 0; rank < 8; ++rank) group.senders.push_back(Rank{rank});
  group.receivers = {Rank{2}};
  const std::vector<std::string> route = names(network, network.group_route(group, 0));
  EXPECT_EQ(route.size(), 9U);
  EXPECT_THAT(route, testing::Contains("node 0: NVSwitch -> GPU 2"));
  EXPECT_THAT(route, testing::Contains("node 0: GPU 7 -> NVSwitch"));
}

TEST(JobNetwork, WithoutNvlinkMessagesCrossPci) {
  const Job job = job_of("4x-a10", 1);
  const JobNetwork network(job, GraphId::Ring, {});
  const SimRoute route = network.route(Rank{0}, Rank{1}, 0);
  EXPECT_EQ(route.slowest, StepLink::Pci);
  EXPECT_FALSE(route.links.empty());
}

}  // namespace
}  // namespace ringside
