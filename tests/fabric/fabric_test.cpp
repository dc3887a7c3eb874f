#include "sim/fabric/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/fabric/cases.h"

namespace ringside {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& fabric, int hosts = 8, int nics = 2) {
  const auto made = fabric_of(fabric, hosts, nics);
  return made ? "accepted" : made.error().message + ": " + made.error().help;
}

std::vector<std::string> names(const Fabric& fabric, const FabricRoute& route) {
  std::vector<std::string> all;
  for (const int link : route.links) all.push_back(fabric.link(link).name);
  return all;
}

// 4 hosts x 2 NICs of 400 Gbit/s on a leaf: 8 links up at 1:1, 4 at 2:1, 2 of 800 Gbit/s.
TEST(Clos, HasAsManyLinksUpAsTheOversubscriptionLeaves) {
  const auto links_up = [](const std::string& more) {
    const auto fabric = fabric_of("{kind: leaf_spine, hosts_per_leaf: 4" + more + "}", 16);
    return (*fabric)->shape().tiers[1].cables / 4;
  };
  EXPECT_EQ(links_up(""), 8);
  EXPECT_EQ(links_up(", oversubscription: 2"), 4);
  EXPECT_EQ(links_up(", oversubscription: 2, rate: 800Gbit/s"), 2);
  EXPECT_EQ(links_up(", oversubscription: 3"), 3);  // 2.67: the next whole number
  const auto fabric = fabric_of("{kind: leaf_spine, hosts_per_leaf: 4, oversubscription: 3}", 16);
  EXPECT_NEAR((*fabric)->shape().tiers[1].oversubscription, 8.0 / 3, 1e-12);
}

TEST(Clos, NamesTheLinksOfAMessage) {
  const auto fabric = fabric_of(
      "{kind: fat_tree, rails: optimised, hosts_per_leaf: 2, hosts_per_pod: 4, oversubscription: "
      "2}",
      16);
  const FabricRoute route = (*fabric)->route({0, 1}, {15, 0}, 0);
  const std::vector<std::string> crossed = names(**fabric, route);
  ASSERT_EQ(crossed.size(), 6U);
  EXPECT_EQ(crossed[0], "host 0 nic 1 -> rail 1 leaf 0");
  EXPECT_EQ(crossed[1], "rail 1 leaf 0 -> pod 0 spine 0");
  EXPECT_THAT(crossed[2], HasSubstr("pod 0 spine 0 -> core "));
  EXPECT_THAT(crossed[3], HasSubstr(" -> pod 3 spine 0"));
  EXPECT_EQ(crossed[5], "rail 0 leaf 7 -> host 15 nic 0");
  EXPECT_EQ(route.switches, 5);
}

// 4 groups of 8 spines with 5 cables to each other one: 15 a group, so 1 or 2 a spine; each pair is joined by 5.
TEST(Clos, SpreadsADragonflysCablesOverSpinesAndGroups) {
  const auto fabric = fabric_of(
      "{kind: dragonfly_plus, hosts_per_leaf: 4, hosts_per_pod: 8, spines: 8, global_links: 2}",
      32);
  ASSERT_TRUE(fabric) << fabric.error().message;
  std::map<std::string, int> of_spine, of_pair;
  const std::vector<int> starts = (*fabric)->tier_starts();
  for (int id = starts[2]; id < starts[3]; ++id) {
    const Fabric::Wire wire = (*fabric)->wire(id);
    ++of_spine[wire.from.text()];
    ++of_pair[std::to_string(wire.from.parts[0].number) + " " +
              std::to_string(wire.to.parts[0].number)];
  }
  EXPECT_EQ(of_pair.size(), 12U);
  for (const auto& [pair, count] : of_pair) EXPECT_EQ(count, 5) << pair;
  EXPECT_EQ(of_spine.size(), 32U);
  for (const auto& [spine, count] : of_spine) {
    EXPECT_GE(count, 1) << spine;
    EXPECT_LE(count, 2) << spine;
  }
}

// A leaf's 8 links are chosen at random: some by several of 8 flows, some by none.
TEST(StaticRouting, LetsFlowsCollide) {
  const auto fabric = fabric_of("{kind: leaf_spine, hosts_per_leaf: 4}", 8);
  std::map<int, int> users;
  for (std::uint64_t flow = 0; flow < 8; ++flow) {
    ++users[(*fabric)
                ->route({static_cast<int>(flow) / 2, static_cast<int>(flow) % 2}, {4, 0}, flow)
                .links[1]];
  }
  EXPECT_LT(users.size(), 8U);
  EXPECT_GT(users.size(), 1U);
  std::map<int, int> many;
  for (std::uint64_t flow = 0; flow < 8000; ++flow)
    ++many[(*fabric)->route({0, 0}, {4, 0}, flow).links[1]];
  ASSERT_EQ(many.size(), 8U);
  // 1000 each expected; five standard deviations of a binomial with p = 1/8: 148.
  for (const auto& [link, count] : many) EXPECT_NEAR(count, 1000, 148);
}

TEST(StaticRouting, SkipsLinksThatAreDown) {
  const auto fabric = fabric_of(
      "{kind: leaf_spine, hosts_per_leaf: 2, degraded: [{link: leaf 0 -> spine 1, share: 0}, "
      "{link: spine 2 -> leaf 1, share: 0}]}",
      4);
  std::set<std::string> spines;
  for (std::uint64_t flow = 0; flow < 200; ++flow) {
    spines.insert((*fabric)->wire((*fabric)->route({0, 0}, {2, 0}, flow).links[1]).to.text());
  }
  EXPECT_THAT(spines, testing::ElementsAre("spine 0", "spine 3"));
}

TEST(Routing, FindsNoWayWhereNoneIsLeft) {
  for (const std::string routing : {"static", "adaptive"}) {
    const auto fabric =
        fabric_of("{kind: leaf_spine, hosts_per_leaf: 2, spines: 2, routing: " + routing +
                      ", degraded: [{link: leaf 0 <-> spine 0, share: 0}, "
                      "{link: leaf 1 <-> spine 1, share: 0}]}",
                  6);
    EXPECT_TRUE(
        (*fabric)->route({0, 0}, {2, 0}, 0).links.empty());  // leaf 0 to 1: no spine of both
    EXPECT_FALSE((*fabric)->route({0, 0}, {4, 0}, 0).links.empty());  // leaf 0 to 2: over spine 1
    EXPECT_FALSE((*fabric)->route({0, 0}, {1, 0}, 0).links.empty());
  }
  const auto rails = fabric_of("{kind: switch, rails: only}", 4);
  EXPECT_TRUE((*rails)->route({0, 0}, {1, 1}, 0).links.empty());
  EXPECT_FALSE((*rails)->route({0, 1}, {1, 1}, 0).links.empty());
}

// One of 4 links of 50 GB/s runs at half its rate: 175 GB/s remain; with background traffic of a fifth, 140 GB/s.
TEST(AdaptiveRouting, HasWhatAllLinksHaveTogether) {
  const auto rate_up = [](const std::string& more) {
    const auto fabric =
        fabric_of("{kind: leaf_spine, hosts_per_leaf: 2, routing: adaptive" + more + "}", 4);
    const FabricLink trunk = (*fabric)->link((*fabric)->route({0, 0}, {2, 0}, 0).links[1]);
    EXPECT_EQ(trunk.name, "leaf 0 -> spines");
    return trunk.rate.value / 1e9;
  };
  EXPECT_DOUBLE_EQ(rate_up(""), 200);
  EXPECT_DOUBLE_EQ(rate_up(", degraded: [{link: leaf 0 -> spine 2, share: 0.5}]"), 175);
  EXPECT_DOUBLE_EQ(rate_up(", degraded: [{link: leaf 0 -> spine 2, share: 0.5}], "
                           "background: [{link: leaf * <-> spine *, share: 0.2}]"),
                   140);
}

// Two switches are in a step's own latency; 5 on the way are 3 more of 0.2 us, and two long cables of 3 us.
TEST(Latency, IsThatOfFurtherSwitchesAndLongCables) {
  const auto fabric = fabric_of(
      "{kind: fat_tree, hosts_per_leaf: 1, hosts_per_pod: 2, hop_latency: 0.2us, core_latency: "
      "3us}",
      8);
  EXPECT_NEAR((*fabric)->route({0, 0}, {7, 0}, 0).latency.count(), 6.6e-6, 1e-15);
  EXPECT_NEAR((*fabric)->route({0, 0}, {1, 0}, 0).latency.count(), 0.2e-6, 1e-15);
  EXPECT_EQ((*fabric)->route({0, 0}, {0, 1}, 0).latency.count(), 0);
}

TEST(Torus, GoesTheShorterWayRound) {
  const auto fabric = fabric_of("{kind: torus, dims: [8, 4]}", 32, 1);
  EXPECT_THAT(names(**fabric, (*fabric)->route({0, 0}, {7, 0}, 0)),
              testing::ElementsAre("host 0 nic 0 -> x 0 y 0", "x 0 y 0 -> x 7 y 0",
                                   "x 7 y 0 -> host 7 nic 0"));
  EXPECT_EQ((*fabric)->route({0, 0}, {8 + 2, 0}, 0).switches, 4);  // 2 along x, 1 along y
}

TEST(Torus, RoutesAroundLinksThatAreDown) {
  const auto fabric = fabric_of(
      "{kind: torus, dims: [4, 4], degraded: [{link: x 0 y 0 -> x 1 y 0, share: 0}]}", 16, 1);
  const std::vector<std::string> route = names(**fabric, (*fabric)->route({0, 0}, {5, 0}, 0));
  EXPECT_EQ(route.size(), 4U);
  EXPECT_THAT(route, testing::Not(testing::Contains("x 0 y 0 -> x 1 y 0")));
  EXPECT_EQ(names(**fabric, (*fabric)->route({0, 0}, {1, 0}, 0)).size(),
            5U);  // the other way round
}

// Paths are computed, not looked up: 12,500 hosts of 8 NICs only cost the paths that are requested.
TEST(Fabric, ALargeFabricNeedsNoListOfLinks) {
  const auto fabric = fabric_of(
      "{kind: fat_tree, rails: optimised, hosts_per_leaf: 32, hosts_per_pod: 512}", 12'500, 8);
  ASSERT_TRUE(fabric) << fabric.error().message;
  // 391 groups of 8 leaves with 32 links up; pods of 128 leaves on 32 spines, each with 128 links up.
  EXPECT_EQ((*fabric)->shape().levels[0].switches, 391 * 8);
  EXPECT_EQ((*fabric)->shape().levels[1].switches, 25 * 32);
  EXPECT_EQ((*fabric)->shape().levels[2].switches, 32 * 128);
  EXPECT_EQ((*fabric)->route({0, 0}, {12'499, 7}, 1).links.size(), 6U);
}

TEST(Fabric, RefusesWhatCannotBe) {
  EXPECT_THAT(refusal("{kind: leaf_spine, hosts_per_leaf: 4, spines: 9}"),
              HasSubstr("give spines: 8"));
  EXPECT_THAT(refusal("{kind: fat_tree, hosts_per_leaf: 4, hosts_per_pod: 6}"),
              HasSubstr("multiple of hosts_per_leaf"));
  EXPECT_THAT(refusal("{kind: leaf_spine, hosts_per_leaf: 60000, oversubscription: 0.001}", 60'000),
              HasSubstr("links up"));
  EXPECT_THAT(
      refusal("{kind: dragonfly_plus, hosts_per_leaf: 1, hosts_per_pod: 1, global_links: 1}", 8, 1),
      HasSubstr("give more global_links"));
  EXPECT_THAT(refusal("{kind: torus, dims: [2, 3]}"), HasSubstr("8 hosts on a torus of 2 x 3"));
  EXPECT_THAT(refusal("{kind: torus, dims: [60000, 60000, 60000]}"), HasSubstr("at most 65536"));
}

TEST(Fabric, SuggestsLinksForAWrongRule) {
  const auto rule = [](const std::string& link) {
    return refusal("{kind: leaf_spine, hosts_per_leaf: 2, degraded: [{link: " + link +
                   ", share: 0.5}]}");
  };
  EXPECT_THAT(rule("lef 0 -> spine 1"), HasSubstr("did you mean 'leaf'"));
  EXPECT_THAT(rule("leaf 0 -> spine 99"), HasSubstr("no cable has the numbers"));
  EXPECT_THAT(rule("host 0 nic 0 -> leaf 3"), HasSubstr("no cable has the numbers"));
  EXPECT_THAT(rule("host 0 nic 0 -> spine 0"), HasSubstr("no cable joins the ends"));
  EXPECT_THAT(rule("leaf 0 -> spine 1 link 7"), HasSubstr("no cable has the numbers"));
  EXPECT_EQ(rule("spine 1 -> leaf *"), "accepted");
  EXPECT_EQ(rule("leaf 3 <-> spine 0 link 0"), "accepted");
}

}  // namespace
}  // namespace ringside
