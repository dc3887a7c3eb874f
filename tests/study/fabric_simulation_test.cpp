#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "study/simulation.h"
#include "tests/study/cluster_folder.h"

namespace ringside::study {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

SimQuestion ring_on(const std::string& on, std::optional<int> nodes = {},
                    const std::string& bytes = "1G") {
  return {.job = {.on = on, .nodes = nodes},
          .calls = {.collective = "all_reduce", .sizes = bytes},
          .algorithm = "ring",
          .protocol = "simple",
          .fidelity = "event"};
}

Result<SimRow> simulate_one(const SimQuestion& question) {
  RINGSIDE_TRY(const SimPlan plan, plan_simulation(question));
  RINGSIDE_TRY(SimCall call, tune_call(plan, plan.calls.sizes.front()));
  return simulate_call(plan, std::move(call));
}

double time_us(const SimQuestion& question) {
  const Result<SimRow> row = simulate_one(question);
  EXPECT_TRUE(row) << row.error().message << ": " << row.error().help;
  if (!row) return 0;
  // No result exceeds what the links allow.
  EXPECT_GE(row->result.time, row->result.busiest);
  EXPECT_LE(row->result.busiest_fabric_part, 1);
  return in_us(row->result.time);
}

class FabricSimulation : public testing::Test {
 protected:
  ClusterFolder folder_;
};

// Each leaf sends as much up as its NICs deliver: spread over all links, no transfer waits.
TEST_F(FabricSimulation, OneToOneAndAdaptiveDelaysNoTransfer) {
  const double ideal = time_us(ring_on("dgx-h100", 8));
  for (const char* fabric :
       {"{kind: switch}", "{kind: switch, rails: only}",
        "{kind: leaf_spine, hosts_per_leaf: 2, routing: adaptive}",
        "{kind: leaf_spine, hosts_per_leaf: 1, routing: adaptive}",
        "{kind: leaf_spine, rails: optimised, hosts_per_leaf: 2, routing: adaptive}",
        "{kind: leaf_spine, rails: only, hosts_per_leaf: 4, routing: adaptive}",
        "{kind: fat_tree, hosts_per_leaf: 1, hosts_per_pod: 2, routing: adaptive}",
        "{kind: fat_tree, rails: optimised, hosts_per_leaf: 2, hosts_per_pod: 4, routing: "
        "adaptive}"}) {
    for (const char* placement : {"placement: packed", "placement: scattered 5"}) {
      const std::string path = folder_.write("dgx-h100 x8", fabric, placement);
      EXPECT_NEAR(time_us(ring_on(path)) / ideal, 1, 1e-6) << fabric << " " << placement;
    }
  }
}

// With one leaf per host, all that a host sends goes up. 8 NICs give 8 x 50 GB/s (PCIe would carry 53.8), k:1 leaves 8
// x 50 / k.
TEST_F(FabricSimulation, OversubscriptionSlowsARingAcrossLeavesProportionally) {
  const auto busy_us = [&](int k) {
    const std::string path = folder_.write(
        "dgx-h100 x4",
        "{kind: leaf_spine, hosts_per_leaf: 1, routing: adaptive, oversubscription: " +
            std::to_string(k) + "}");
    const Result<SimRow> row = simulate_one(ring_on(path));
    EXPECT_TRUE(row) << row.error().message;
    EXPECT_EQ(row->busiest->name, k == 1 ? "node 0: NIC 0 -> mlx5_0" : "leaf 0 -> spines");
    return std::pair{in_us(row->result.busiest), in_us(row->result.time)};
  };
  const auto [need1, time1] = busy_us(1);
  for (const int k : {2, 4, 8}) {
    const auto [need, time] = busy_us(k);
    EXPECT_NEAR(need / need1, k, 1e-9 * k) << k;
    EXPECT_NEAR(time / time1, k, 0.02 * k) << k;
  }
}

// One NIC's cable at half of 50 GB/s: the channels on it take twice as long, and all wait for them.
TEST_F(FabricSimulation, ADegradedLinkSlowsProportionally) {
  const auto time_with = [&](const std::string& rules) {
    return time_us(ring_on(folder_.write("dgx-h100 x4", "{kind: switch" + rules + "}")));
  };
  const double whole = time_with("");
  EXPECT_NEAR(time_with(", degraded: [{link: host 1 nic 3 -> switch 0, share: 0.5}]") / whole, 2,
              0.04);
  EXPECT_NEAR(time_with(", background: [{link: switch 0 -> host 2 nic 0, share: 0.75}]") / whole, 4,
              0.08);
  EXPECT_NEAR(time_with(", degraded: [{link: host 1 nic 3 -> switch 0, share: 0.99}]") / whole,
              1 / 0.99, 1e-3);
}

// With a hash, some uplinks of a fat tree carry two flows: no faster than spread, no slower than all on one link.
TEST_F(FabricSimulation, StaticRoutingCollides) {
  const auto with = [&](const std::string& routing) {
    return time_us(ring_on(folder_.write(
        "dgx-h100 x8", "{kind: leaf_spine, hosts_per_leaf: 1, routing: " + routing + "}")));
  };
  const double spread = with("adaptive");
  EXPECT_GT(with("static"), 1.2 * spread);
  EXPECT_EQ(with("static, seed: 1"), with("static"));
  EXPECT_LT(with("static"), 8 * spread);
  std::set<double> others;
  for (int seed = 1; seed <= 6; ++seed)
    others.insert(with("static, seed: " + std::to_string(seed)));
  EXPECT_GT(others.size(), 1U);
}

// 4 nodes on 2 leaves: in order the ring crosses from leaf to leaf once in each direction, otherwise at each step.
TEST_F(FabricSimulation, PlacementDecidesHowMuchCrossesLeaves) {
  const std::string fabric =
      "{kind: leaf_spine, hosts_per_leaf: 2, oversubscription: 4, routing: adaptive}";
  const double packed =
      time_us(ring_on(folder_.write("dgx-h100 x4", fabric, "placement: [0, 1, 2, 3]")));
  const double mixed =
      time_us(ring_on(folder_.write("dgx-h100 x4", fabric, "placement: [0, 2, 1, 3]")));
  EXPECT_NEAR(mixed / packed, 2, 0.05);
}

TEST_F(FabricSimulation, NamesHostsWithoutAPath) {
  const std::string path =
      folder_.write("dgx-h100 x4",
                    "{kind: leaf_spine, rails: only, hosts_per_leaf: 1, degraded: "
                    "[{link: rail 3 leaf 2 -> rail 3 spine *, share: 0}]}");
  for (const char* fidelity : {"event", "chunk", "flow"}) {
    SimQuestion question = ring_on(path, {}, "1M");
    question.fidelity = fidelity;
    const Result<SimRow> row = simulate_one(question);
    ASSERT_FALSE(row) << fidelity;
    EXPECT_THAT(row.error().message,
                HasSubstr("the fabric does not join host 2 nic 3 (node 2: mlx5_3)"));
    EXPECT_THAT(row.error().message,
                ContainsRegex("; down: rail 3 leaf 2 -> rail 3 spine \\* \\(.*:[0-9]+\\)"));
    EXPECT_THAT(row.error().message, HasSubstr(" with host 3 nic 3 (node 3: mlx5_3)"));
  }
}

// A NIC's own link and its cable are equally fast and carry the same: the named link is the cable, which belongs to
// the fabric.
TEST_F(FabricSimulation, FlowNamesTheLinkThatEventsName) {
  SimQuestion question = ring_on(
      folder_.write("dgx-h100 x4", "{kind: leaf_spine, rails: optimised, hosts_per_leaf: 2}"));
  const Result<SimRow> event = simulate_one(question);
  question.fidelity = "flow";
  const Result<SimRow> flow = simulate_one(question);
  ASSERT_TRUE(event && flow);
  ASSERT_TRUE(event->busiest_fabric && flow->busiest_fabric);
  EXPECT_EQ(flow->busiest_fabric->tier, event->busiest_fabric->tier);
  EXPECT_NEAR(flow->busiest_fabric->needs / event->busiest_fabric->needs, 1, 0.01);
}

// 72 x 71 transfers that share static paths, limited by NICs or by a fabric of 4:1: the sums over each link and each
// chain of sends give the result of the event simulation.
TEST_F(FabricSimulation, LargeExchangesTakeTheTimeOfEvents) {
  for (const char* fabric :
       {"{kind: leaf_spine, rails: optimised, hosts_per_leaf: 3, routing: static}",
        "{kind: leaf_spine, hosts_per_leaf: 3, routing: static, oversubscription: 4}"}) {
    SimQuestion question{
        .job = {.on = folder_.write("dgx-h100 x9", fabric, "placement: scattered 3")},
        .calls = {.collective = "all_to_all", .sizes = "1M"},
        .fidelity = "event"};
    const Result<SimRow> event = simulate_one(question);
    question.fidelity = "flow";
    const Result<SimRow> flow = simulate_one(question);
    ASSERT_TRUE(event && flow) << fabric;
    EXPECT_NEAR(flow->result.time / event->result.time, 1, 0.02) << fabric;
    EXPECT_NEAR(flow->result.busiest / event->result.busiest, 1, 1e-6) << fabric;
    EXPECT_EQ(flow->result.transfers, event->result.transfers);
    EXPECT_EQ(flow->result.steps, event->result.steps);
    EXPECT_EQ(simulate_one(question)->result.time, flow->result.time);
  }
}

TEST_F(FabricSimulation, RefusesAJobOnHostsWithoutAPath) {
  const std::string path = folder_.write(
      "dgx-h100 x4",
      "{kind: leaf_spine, hosts_per_leaf: 2, degraded: [{link: leaf 1 <-> spine *, share: 0}]}");
  const auto cut = load_job({.on = path});
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message,
              HasSubstr("no path from host 1 (dgx-h100) to host 2 (dgx-h100)"));
  EXPECT_TRUE(load_job({.on = path, .nodes = 2}));
}

// In a rail-only fabric NCCL's rings stay on their rails; sends to other rails go over NVLink first (PXN).
TEST_F(FabricSimulation, RailsAloneCarryWhatNcclSends) {
  const std::string path = folder_.write("dgx-h100 x4", "{kind: switch, rails: only}");
  SimQuestion question = ring_on(path, {}, "64M");
  question.algorithm = question.protocol = "";
  question.calls.collective = "all_to_all";
  EXPECT_GT(time_us(question), 0);
  question.job.set = {"NCCL_PXN_DISABLE=1"};
  const Result<SimRow> row = simulate_one(question);
  ASSERT_FALSE(row);
  EXPECT_THAT(row.error().message, HasSubstr("the fabric does not join"));
}

// Two racks of 18 hosts, each of which is one node for NCCL: a NIC's host is its own, not the first of its domain.
TEST_F(FabricSimulation, HostsOfNvlinkDomainsHaveTheirOwnCables) {
  const std::string path = folder_.write("gb200-nvl72 x2", "{kind: leaf_spine, hosts_per_leaf: 18}",
                                         "placement: [1, 0]");
  const Result<AskedJob> asked = load_job({.on = path});
  ASSERT_TRUE(asked) << asked.error().message;
  ASSERT_EQ(asked->job.nodes.size(), 2U);
  EXPECT_THAT(asked->fabric->first_hosts, testing::ElementsAre(18, 0));
  const JobNetwork network(asked->job, std::nullopt, asked->topology, nullptr, asked->job_fabric());
  // Rank 5 is GPU 1 of the rack's second host, and rank 72 + 5 the same GPU in the other rack.
  const SimRoute route = network.route(Rank{5}, Rank{72 + 5}, 0);
  std::vector<std::string> names;
  for (const int link : route.links) names.push_back(network.link(link).name);
  EXPECT_THAT(testing::PrintToString(names), HasSubstr("host 19 nic "));
  EXPECT_THAT(testing::PrintToString(names), HasSubstr("-> host 1 nic "));
}

// The links' 50 GB/s limit a host's NICs, and a switch's ports are as fast.
TEST_F(FabricSimulation, TheBusiestFabricLinksTimeFollowsFromItsBytes) {
  const Result<SimRow> row = simulate_one(ring_on(folder_.write("dgx-h100 x2", "{kind: switch}")));
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_NEAR(row->busiest_fabric->needs / row->result.busiest, 1, 1e-6);
  EXPECT_EQ(row->busiest_fabric->tier, "NIC - switch");
}

class FabricWays : public FabricSimulation {
 protected:
  /// Returns the names of the spines' links on a route.
  static std::set<std::string> crossed(const JobNetwork& network, const SimRoute& route) {
    std::set<std::string> names;
    for (const int link : route.links) {
      const std::string name = network.link(link).name;
      if (name.find("spine") != std::string::npos) names.insert(name);
    }
    return names;
  }
};

TEST_F(FabricWays, EachChannelIsASeparateFlow) {
  const auto asked =
      load_job({.on = folder_.write("dgx-h100 x2", "{kind: leaf_spine, hosts_per_leaf: 1}")});
  ASSERT_TRUE(asked) << asked.error().message;
  const JobNetwork network(asked->job, std::nullopt, asked->topology, nullptr, asked->job_fabric());
  std::set<std::set<std::string>> ways;
  for (int channel = 0; channel < 8; ++channel) {
    ways.insert(crossed(network, network.route(Rank{0}, Rank{8}, channel)));
  }
  EXPECT_GT(ways.size(), 3U);  // 8 links up by chance: 8 flows on at most 3 of them are 1 in 1000
}

// The data of a reduction meet at one spine: 4 leaves send up to it, and it sends down to the receivers' leaves.
TEST_F(FabricWays, ANetworkThatReducesIsATree) {
  const auto asked =
      load_job({.on = folder_.write("dgx-h100 x8", "{kind: leaf_spine, hosts_per_leaf: 2}")});
  ASSERT_TRUE(asked) << asked.error().message;
  const JobNetwork network(asked->job, GraphId::CollNetChain, asked->topology, nullptr,
                           asked->job_fabric());
  SwitchGroup group;
  group.medium = SwitchGroup::Medium::Network;
  for (int node = 0; node < 8; ++node) group.senders.push_back(Rank{8 * node});
  group.receivers = {Rank{0}, Rank{24}};  // on leaves 0 and 1
  for (int channel = 0; channel < 4; ++channel) {
    const SimRoute route = network.group_route(group, channel);
    const std::set<std::string> names = crossed(network, route);
    EXPECT_EQ(names.size(), 4U + 2U);
    std::set<std::string> spines;
    for (const std::string& name : names) {
      const std::size_t at = name.find("spine ");
      spines.insert(name.substr(at, name.find(' ', at + 6) - at));
    }
    EXPECT_EQ(spines.size(), 1U) << testing::PrintToString(names);
    EXPECT_EQ(std::set<int>(route.links.begin(), route.links.end()).size(), route.links.size());
  }
}

TEST_F(FabricSimulation, FidelitiesAgree) {
  const std::string path =
      folder_.write("dgx-h100 x4",
                    "{kind: leaf_spine, hosts_per_leaf: 2, oversubscription: 2, hop_latency: 2us}");
  for (const char* collective : {"all_reduce", "all_to_all"}) {
    SimQuestion question = ring_on(path, {}, "16M");
    question.algorithm = question.protocol = "";
    question.calls.collective = collective;
    question.fidelity = "chunk";
    const Result<SimRow> chunk = simulate_one(question);
    question.fidelity = "event";
    const Result<SimRow> event = simulate_one(question);
    ASSERT_TRUE(chunk) << chunk.error().message;
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_NEAR(event->result.time / chunk->result.time, 1, 0.01) << collective;
    EXPECT_EQ(event->busiest_fabric->link.name, chunk->busiest_fabric->link.name) << collective;
    EXPECT_NEAR(event->busiest_fabric->needs / chunk->busiest_fabric->needs, 1, 1e-3) << collective;
  }
}

// 3 switches on the path are one more than a step includes: a step of 8 B across leaves takes one latency longer.
TEST_F(FabricSimulation, FurtherSwitchesTakeTheirTime) {
  const auto with = [&](const std::string& hop) {
    const std::string path = folder_.write(
        "dgx-h100 x2", "{kind: leaf_spine, hosts_per_leaf: 1, hop_latency: " + hop + "}");
    SimQuestion question = ring_on(path, {}, "8");
    question.protocol = "ll";
    question.fidelity = "chunk";
    const double chunk = time_us(question);
    question.fidelity = "event";
    EXPECT_NEAR(time_us(question), chunk, 1e-3);
    return chunk;
  };
  const double none = with("0us");
  const double one = with("1us");
  EXPECT_GT(one, none + 1);
  EXPECT_NEAR(with("3us") - none, 3 * (one - none), 1e-6);
}

TEST_F(FabricSimulation, SettingsChangeTheFile) {
  const std::string path = folder_.write("dgx-h100 x4", "{kind: leaf_spine, hosts_per_leaf: 1}");
  const auto asked =
      load_job({.on = path, .set = {"fabric.oversubscription=4", "placement=[3, 1]"}});
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->fabric->fabric->settings().oversubscription, 4);
  EXPECT_THAT(asked->fabric->nodes, testing::ElementsAre(3, 1));
  EXPECT_EQ(asked->job.nranks(), 16);
  const auto lost = load_job({.on = "dgx-h100", .set = {"fabric.oversubscription=4"}});
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr("which has no fabric"));
}

}  // namespace
}  // namespace ringside::study
