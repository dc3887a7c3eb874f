#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "tests/fabric/cases.h"

namespace ringside {
namespace {

std::string with(const std::string& fabric, const std::string& more) {
  return fabric.substr(0, fabric.size() - 1) + ", " + more + "}";
}

std::string end_of(FabricPort port) {
  return "host " + std::to_string(port.host) + " nic " + std::to_string(port.nic);
}

/// Returns the maximum flow from all of `from` to all of `to` over the links as built.
///
/// source  Edmonds and Karp, J. ACM 19 (1972)
double most_flow(const Fabric& fabric, const std::vector<FabricPort>& from,
                 const std::vector<FabricPort>& to) {
  std::map<std::string, std::map<std::string, double>> left;
  for (int id = 0; id < fabric.nlinks(); ++id) {
    const Fabric::Wire wire = fabric.wire(id);
    if (wire.is_there) left[wire.from.text()][wire.to.text()] += wire.rate.value / 1e9;
  }
  for (const FabricPort port : from) left["source"][end_of(port)] = 1e12;
  for (const FabricPort port : to) left[end_of(port)]["sink"] = 1e12;
  double all = 0;
  for (;;) {
    std::map<std::string, std::string> before{{"source", ""}};
    std::queue<std::string> next{{"source"}};
    while (!next.empty() && !before.contains("sink")) {
      const std::string at = next.front();
      next.pop();
      for (const auto& [to_end, rate] : left[at]) {
        if (rate > 1e-6 && before.try_emplace(to_end, at).second) next.push(to_end);
      }
    }
    if (!before.contains("sink")) return all;
    double more = 1e12;
    for (std::string at = "sink"; at != "source"; at = before[at]) {
      more = std::min(more, left[before[at]][at]);
    }
    for (std::string at = "sink"; at != "source"; at = before[at]) {
      left[before[at]][at] -= more;
      left[at][before[at]] += more;
    }
    all += more;
  }
}

class EachFabric : public testing::TestWithParam<FabricCase> {
 protected:
  [[nodiscard]] static std::unique_ptr<const Fabric> make(const std::string& more = "seed: 1") {
    auto made = fabric_of(with(GetParam().fabric, more), GetParam().hosts, GetParam().nics);
    EXPECT_TRUE(made) << made.error().message << ": " << made.error().help;
    return made ? std::move(*made) : nullptr;
  }

  template <typename Visit>
  static void for_each_pair(Visit visit) {
    const FabricCase& one = GetParam();
    for (int a = 0; a < one.hosts * one.nics; ++a) {
      for (int b = 0; b < one.hosts * one.nics; ++b) {
        const FabricPort from{a / one.nics, a % one.nics}, to{b / one.nics, b % one.nics};
        if (from.host == to.host || (!one.joins_rails && from.nic != to.nic)) continue;
        visit(from, to, static_cast<std::uint64_t>(a * 1000 + b));
      }
    }
  }
};

TEST_P(EachFabric, JoinsEveryPairByLinksThatChain) {
  const auto fabric = make();
  ASSERT_NE(fabric, nullptr);
  for_each_pair([&](FabricPort from, FabricPort to, std::uint64_t flow) {
    const FabricRoute route = fabric->route(from, to, flow);
    ASSERT_GE(route.links.size(), 2U) << end_of(from) << " to " << end_of(to);
    std::string at = end_of(from);
    for (const int id : route.links) {
      ASSERT_LT(id, fabric->nlinks());
      const Fabric::Wire wire = fabric->wire(id);
      ASSERT_TRUE(wire.is_there) << fabric->link(id).name;
      ASSERT_EQ(wire.from.text(), at) << end_of(from) << " to " << end_of(to);
      ASSERT_GT(fabric->link(id).rate.value, 0);
      at = wire.to.text();
    }
    ASSERT_EQ(at, end_of(to));
    ASSERT_EQ(std::set<int>(route.links.begin(), route.links.end()).size(), route.links.size());
    ASSERT_EQ(route.switches, static_cast<int>(route.links.size()) - 1);
  });
}

// The links over which a switch spreads a flow have the sum of their rates; each trunk has at least the rate of one
// link.
TEST_P(EachFabric, SpreadsFlowsOverTheLeavesOfTheStaticWay) {
  if (std::string(GetParam().fabric).find("torus") != std::string::npos) {
    EXPECT_FALSE(fabric_of(with(GetParam().fabric, "routing: adaptive"), GetParam().hosts));
    return;
  }
  const auto fixed = make();
  const auto spread = make("routing: adaptive");
  ASSERT_NE(spread, nullptr);
  for_each_pair([&](FabricPort from, FabricPort to, std::uint64_t flow) {
    const FabricRoute one = fixed->route(from, to, flow), all = spread->route(from, to, flow);
    ASSERT_EQ(all.links.size(), one.links.size());
    ASSERT_EQ(all.links.front(), one.links.front());
    ASSERT_EQ(all.links.back(), one.links.back());
    for (std::size_t i = 1; i + 1 < all.links.size(); ++i) {
      ASSERT_GE(all.links[i], spread->nlinks());
      ASSERT_GE(spread->link(all.links[i]).rate, fixed->link(one.links[i]).rate);
    }
    if (one.links.size() <= 2) return;
    const std::string first = fixed->wire(one.links[1]).from.text();
    const std::string last = fixed->wire(one.links[one.links.size() - 2]).to.text();
    ASSERT_EQ(spread->link(all.links[1]).name, first + " -> spines");
    ASSERT_EQ(spread->link(all.links[all.links.size() - 2]).name, "spines -> " + last);
  });
}

TEST_P(EachFabric, TakesTheSameWayForTheSameSeed) {
  const auto one = make("seed: 7"), same = make("seed: 7"), other = make("seed: 8");
  bool is_other = false;
  bool has_choice = false;
  for_each_pair([&](FabricPort from, FabricPort to, std::uint64_t flow) {
    ASSERT_EQ(one->route(from, to, flow).links, same->route(from, to, flow).links);
    is_other = is_other || one->route(from, to, flow).links != other->route(from, to, flow).links;
    has_choice =
        has_choice || one->route(from, to, flow).links != one->route(from, to, flow + 1).links;
  });
  EXPECT_EQ(is_other, has_choice);
}

TEST_P(EachFabric, HasTheBisectionThatItsCablesHave) {
  const FabricCase& one = GetParam();
  const auto fabric = make();
  std::vector<FabricPort> low, high;
  for (int i = 0; i < one.hosts * one.nics; ++i) {
    const FabricPort port{i / one.nics, i % one.nics};
    (port.host < one.hosts / 2 ? low : high).push_back(port);
  }
  EXPECT_NEAR(fabric->shape().bisection.value / 1e9, most_flow(*fabric, low, high), 1e-3);
}

TEST_P(EachFabric, CountsItsCables) {
  const auto fabric = make();
  const FabricShape shape = fabric->shape();
  std::vector<std::int64_t> links(shape.tiers.size());
  std::set<std::string> names, ends;
  for (int id = 0; id < fabric->nlinks(); ++id) {
    const Fabric::Wire wire = fabric->wire(id);
    if (!wire.is_there) continue;
    ++links[static_cast<std::size_t>(wire.tier)];
    EXPECT_TRUE(names.insert(fabric->link(id).name).second) << fabric->link(id).name;
    for (const FabricEnd& end : {wire.from, wire.to}) {
      if (end.parts[0].word != "host") ends.insert(end.text());
    }
  }
  for (std::size_t tier = 0; tier < shape.tiers.size(); ++tier) {
    EXPECT_EQ(links[tier], 2 * shape.tiers[tier].cables) << shape.tiers[tier].name;
  }
  std::int64_t switches = 0;
  for (const FabricLevel& level : shape.levels) switches += level.switches;
  EXPECT_EQ(static_cast<std::int64_t>(ends.size()), switches);
}

// With all links of a tier at half their rate the bisection has half its rate, wherever it is cut, unless NICs limit
// it.
TEST_P(EachFabric, AppliesItsRuleToEveryLink) {
  const auto whole = make();
  const Fabric::Wire any = whole->wire(0);
  const std::string to = any.to.count == 1   ? std::string(any.to.parts[0].word) + " *"
                         : any.to.count == 2 ? std::string(any.to.parts[0].word) + " * " +
                                                   std::string(any.to.parts[1].word) + " *"
                                             : "x * y * z *";
  const auto less = make("degraded: [{link: host 1 nic 0 -> " + to + ", share: 0.5}]");
  ASSERT_NE(less, nullptr);
  for (int id = 0; id < whole->nlinks(); ++id) {
    const bool is_it = whole->link(id).name.starts_with("host 1 nic 0 ->");
    ASSERT_EQ(less->link(id).rate.value, whole->link(id).rate.value * (is_it ? 0.5 : 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, EachFabric, testing::ValuesIn(fabric_cases()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace ringside
