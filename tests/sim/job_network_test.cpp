#include "sim/job_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/mixed.h"
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

// 16 channels of 36.7 GB/s fill a GPU's 370.8 GB/s, 8 do not: then the channel's own rate limits what a GPU sends on
// it.
TEST(JobNetwork, FewChannelsHaveTheirOwnLinks) {
  const Job job = job_of("dgx-h100", 2);
  const SimModel model = *load_sim_model();
  const JobNetwork few(job, GraphId::Ring, {}, &model, {}, 8);
  const SimRoute route = few.route(Rank{9}, Rank{12}, 5);
  EXPECT_THAT(names(few, route),
              ElementsAre("node 1: GPU 1 -> NVSwitch", "node 1: NVSwitch -> GPU 4",
                          "node 1: GPU 1, channel 5"));
  EXPECT_DOUBLE_EQ(few.rate(route.links[2]).value, 36.7e9);
  EXPECT_EQ(few.route(Rank{9}, Rank{3}, 5).links.back(), route.links[2]);
  const JobNetwork many(job, GraphId::Ring, {}, &model, {}, 16);
  EXPECT_EQ(many.route(Rank{9}, Rank{12}, 5).links.size(), 2U);
}

// The other ranks have scattered to the head, on the channel, what it reduces.
TEST(JobNetwork, FewChannelsHoldUpTheSwitchToo) {
  const Job job = job_of("dgx-h100", 1);
  const SimModel model = *load_sim_model();
  const SwitchGroup group{.senders = {Rank{0}, Rank{3}}, .receivers = {Rank{1}}};
  const JobNetwork few(job, GraphId::Nvls, {}, &model, {}, 4);
  EXPECT_THAT(names(few, few.group_route(group, 2)),
              testing::IsSupersetOf({"node 0: GPU 0, channel 2", "node 0: GPU 3, channel 2"}));
  const JobNetwork many(job, GraphId::Nvls, {}, &model, {}, 16);
  EXPECT_EQ(many.group_route(group, 2).links.size(), 3U);
}

// An exchange's channel has one rate within the node and another across nodes.
TEST(JobNetwork, AnExchangeHasChannelsOfBothReaches) {
  const Job job = job_of("dgx-h100", 2);
  const SimModel model = *load_sim_model();
  const JobNetwork network(job, std::nullopt, {}, &model, {}, 16);
  const SimRoute within = network.route(Rank{0}, Rank{1}, 15);
  const SimRoute across = network.route(Rank{0}, Rank{9}, 15);
  EXPECT_NE(within.links.back(), across.links.back());
  EXPECT_EQ(network.link(within.links.back()).name, "node 0: GPU 0, channel 15");
  EXPECT_EQ(network.link(across.links.back()).name, "node 0: GPU 0, channel 15");
  EXPECT_DOUBLE_EQ(network.rate(within.links.back()).value, 36.7e9);
  EXPECT_DOUBLE_EQ(network.rate(across.links.back()).value,
                   8 * 128 * 1024 / (model.exchange_window * 1e-6));
  EXPECT_EQ(network.route(Rank{1}, Rank{2}, 0).links.back(), within.links.back() + 17);
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

// Without a graph rank 0 sends by the NIC next to GPU 3, to which NVLink leads: PXN.
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

// A root port forwards less in both directions at once than twice its rate in one direction.
TEST(JobNetwork, BothDirectionsThroughACpuShareItsPort) {
  const Job job = job_of("4x-a10", 1);
  const SimModel model = *load_sim_model();
  const JobNetwork network(job, GraphId::Ring, {}, &model);
  const std::vector<int> there = network.route(Rank{0}, Rank{1}, 0).links;
  const std::vector<int> back = network.route(Rank{1}, Rank{0}, 0).links;
  std::vector<int> shared;
  std::ranges::copy_if(there, std::back_inserter(shared),
                       [&](int link) { return std::ranges::find(back, link) != back.end(); });
  ASSERT_FALSE(shared.empty());
  EXPECT_THAT(network.link(shared.front()).name, HasSubstr("both ways"));
  for (const int link : shared) {
    EXPECT_NEAR(network.rate(link).value, 2 * model.host_bridge * network.rate(there.front()).value,
                1e-3 * network.rate(link).value);
  }
}

/// The slowest and the fastest link between CPUs, GB/s.
std::pair<double, double> rates_between_cpus(const std::string& on) {
  const Job job = job_of(on, 1);
  const SimModel model = *load_sim_model();
  const JobNetwork network(job, GraphId::Ring, {}, &model);
  std::pair<double, double> range{1e9, 0};
  const System& system = job.systems.front();
  for (std::size_t i = 0; i < system.links.size(); ++i) {
    if (system.links[i].kind != LinkKind::Sys) continue;
    const double rate = network.rate(static_cast<int>(i)).value / 1e9;
    range = {std::min(range.first, rate), std::max(range.second, rate)};
  }
  return range;
}

// Perlmutter's hosts have one socket of four NUMA nodes, a DGX A100 two: the I/O die is no xGMI.
TEST(JobNetwork, NumaNodesOfOneAmdSocketAreJoinedByItsDie) {
  const SimModel model = *load_sim_model();
  const auto [slowest, fastest] = rates_between_cpus("perlmutter-a100");
  EXPECT_DOUBLE_EQ(slowest, model.socket_other);
  EXPECT_DOUBLE_EQ(fastest, model.socket_other);
  const auto [across, within] = rates_between_cpus("dgx-a100");
  EXPECT_DOUBLE_EQ(across, model.socket_amd);
  EXPECT_DOUBLE_EQ(within, model.socket_other);
}

// 64 x 64 pairs on 16 channels. Of 64 flows of a regular ring on 32 equal links a random hash puts at most 8 on one in 98 % of
// all draws: 2 of 200 seeds may have more.
TEST(JobNetwork, FlowsAreDistinguishedAsIfByChance) {
  std::set<std::uint64_t> keys;
  for (int from = 0; from < 64; ++from) {
    for (int to = 0; to < 64; ++to) {
      for (int channel = 0; channel < 16; ++channel) {
        keys.insert(flow_key(Rank{from}, Rank{to}, channel));
      }
    }
  }
  EXPECT_EQ(keys.size(), 64U * 64 * 16);
  int crowded = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::array<int, 32> flows{};
    for (int host = 0; host < 4; ++host) {
      for (int channel = 0; channel < 16; ++channel) {
        const std::uint64_t key = flow_key(Rank{8 * host + 7}, Rank{8 * (host + 4)}, channel);
        ++flows[mixed_with(seed, key) % flows.size()];
      }
    }
    crowded += *std::ranges::max_element(flows) > 8 ? 1 : 0;
  }
  EXPECT_LE(crowded, 6);
}

}  // namespace
}  // namespace ringside
