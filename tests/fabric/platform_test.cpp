#include "sim/fabric/platform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sim/fabric/kinds.h"

namespace ringside {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string zone_with(const std::string& inside, const std::string& routing = "Full") {
  return "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"" + routing + "\">\n" + inside +
         "\n</zone>\n</platform>\n";
}

const std::string kTwoHosts =
    "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>\n"
    "<link id=\"l\" bandwidth=\"8Gbps\" latency=\"2us\"/>\n";

std::string platform_refusal(const std::string& text) {
  const auto platform = parse_platform(text, "p.xml");
  return platform ? "accepted" : platform.error().message + ": " + platform.error().help;
}

std::vector<std::string> names(const Platform& platform, int from, int to) {
  std::vector<std::string> all;
  const std::vector<int> route = platform_route(platform, from, to).value_or(std::vector<int>{});
  for (const int id : route) {
    all.push_back(platform.links[static_cast<std::size_t>(id)].name);
  }
  return all;
}

TEST(Platform, HasRatesAndLatenciesInAllUnits) {
  const auto rate = [](const std::string& bandwidth) {
    const auto platform = parse_platform(
        zone_with("<host id=\"a\"/><link id=\"l\" bandwidth=\"" + bandwidth + "\"/>"), "p.xml");
    return platform ? platform->links[0].rate.value : -1;
  };
  EXPECT_DOUBLE_EQ(rate("125MBps"), 125e6);
  EXPECT_DOUBLE_EQ(rate("10Gbps"), 1.25e9);
  EXPECT_DOUBLE_EQ(rate("1GiBps"), 0x1p30);
  EXPECT_DOUBLE_EQ(rate("1e9"), 1e9);
  EXPECT_DOUBLE_EQ(rate("800Kibps"), 102'400);
  EXPECT_EQ(rate("10Gbit/s"), -1);
  EXPECT_EQ(rate("10Xbps"), -1);
  EXPECT_EQ(rate("-1Gbps"), -1);
  const auto latency = [](const std::string& text) {
    const auto platform = parse_platform(
        zone_with("<host id=\"a\"/><link id=\"l\" bandwidth=\"1Gbps\" latency=\"" + text + "\"/>"),
        "p.xml");
    return platform ? platform->links[0].latency.count() : -1;
  };
  EXPECT_DOUBLE_EQ(latency("50us"), 50e-6);
  EXPECT_DOUBLE_EQ(latency("1.5ms"), 1.5e-3);
  EXPECT_DOUBLE_EQ(latency("0.001"), 1e-3);
  EXPECT_EQ(latency("1 us"), -1);
  EXPECT_EQ(latency("11s"), -1);
}

TEST(Platform, GoesOverAStarsHub) {
  const auto platform = parse_platform(
      zone_with(kTwoHosts + "<host id=\"c\"/><link id=\"m\" bandwidth=\"1Gbps\" "
                            "sharing_policy=\"SPLITDUPLEX\"/>"
                            "<route src=\"a\" dst=\"*\"><link_ctn id=\"l\"/></route>"
                            "<route src=\"b\"><link_ctn id=\"m\" direction=\"UP\"/></route>",
                "Star"),
      "p.xml");
  ASSERT_TRUE(platform) << platform.error().message;
  EXPECT_THAT(names(*platform, 0, 1), ElementsAre("l", "m down"));
  EXPECT_THAT(names(*platform, 1, 0), ElementsAre("m up", "l"));
  EXPECT_FALSE(platform_route(*platform, 0, 2));
}

// 3 groups of 2 chassis with 4 blades of 2 hosts: whatever the way, each link begins where the one before ends.
TEST(Platform, OmitsNoLinkOfADragonfly) {
  const auto platform = parse_platform(
      "<platform version=\"4.1\"><cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-47\" "
      "bw=\"1Gbps\" lat=\"1us\" topology=\"DRAGONFLY\" topo_parameters=\"3,4;2,3;4,2;2\"/>"
      "</platform>",
      "p.xml");
  ASSERT_TRUE(platform) << platform.error().message << platform.error().help;
  for (int from = 0; from < 48; ++from) {
    for (int to = 0; to < 48; ++to) {
      if (from == to) continue;
      std::string at = "host " + std::to_string(from);
      const auto route = platform_route(*platform, from, to);
      ASSERT_TRUE(route);
      for (const int id : *route) {
        const PlatformLink& link = platform->links[static_cast<std::size_t>(id)];
        ASSERT_EQ(link.from.text(), at) << from << " to " << to << ": " << link.name;
        at = link.to.text();
      }
      ASSERT_EQ(at, "host " + std::to_string(to));
    }
  }
  std::set<double> rates;
  for (const PlatformLink& link : platform->links) rates.insert(link.rate.value / 125e6);
  EXPECT_THAT(rates, ElementsAre(1, 2, 3, 4));
}

TEST(Platform, SuggestsTheNearestHostType) {
  const auto platform = parse_platform(
      "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">"
      "<prop id=\"ringside_node\" value=\"outer\"/>"
      "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-1\" bw=\"1Gbps\" lat=\"1us\">"
      "<prop id=\"ringside_node\" value=\"inner\"/></cluster>"
      "<zone id=\"y\" routing=\"None\"><host id=\"a\"/>"
      "<host id=\"b\"><prop id=\"ringside_node\" value=\"own\"/></host></zone>"
      "</zone></platform>",
      "p.xml");
  ASSERT_TRUE(platform) << platform.error().message;
  std::vector<std::string> nodes;
  for (const Platform::Host& host : platform->hosts) nodes.push_back(host.node);
  EXPECT_THAT(nodes, ElementsAre("inner", "inner", "outer", "own"));
}

TEST(Platform, RefusesWithLineAndFix) {
  const auto inside = [](const std::string& text, const std::string& routing = "Full") {
    return platform_refusal(zone_with(kTwoHosts + text, routing));
  };
  const std::string route = "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>";
  EXPECT_EQ(inside(route), "accepted");
  EXPECT_THAT(inside(route + route), AllOf(StartsWith("p.xml:5: "), HasSubstr("second route")));
  EXPECT_THAT(inside("\n<route src=\"a\" dst=\"c\"><link_ctn id=\"l\"/></route>"),
              AllOf(StartsWith("p.xml:6: there is no c"), HasSubstr("known: ")));
  std::string many;
  for (int i = 100; i < 140; ++i) many += "<host id=\"node-" + std::to_string(i) + "\"/>";
  EXPECT_THAT(inside(many + "<route src=\"a\" dst=\"node-139x\"><link_ctn id=\"l\"/></route>"),
              HasSubstr("did you mean 'node-139'?"));
  EXPECT_THAT(inside("<route src=\"a\" dst=\"b\"><link_ctn id=\"ll\"/></route>"),
              HasSubstr("did you mean 'l'"));
  EXPECT_THAT(inside("<host id=\"a\"/>"), HasSubstr("the name a appears twice"));
  EXPECT_THAT(inside("<link id=\"l\" bandwidth=\"1Gbps\"/>"),
              HasSubstr("the link l appears twice"));
  EXPECT_THAT(inside("<link id=\"m\"/>"), HasSubstr("add bandwidth="));
  EXPECT_THAT(inside("<link id=\"m\" bandwidth=\"1Gbps\" bandwidth_file=\"x\"/>"),
              HasSubstr("bandwidth_file of <link> is not supported"));
  EXPECT_THAT(inside("<link id=\"m\" bandwidth=\"1Gbps\" sharing_policy=\"WIFI\"/>"),
              HasSubstr("sharing_policy=\"WIFI\" is not supported"));
  EXPECT_THAT(inside("<bypassRoute src=\"a\" dst=\"b\"/>"), HasSubstr("is not allowed inside"));
  EXPECT_THAT(inside("<zone id=\"y\" routing=\"None\"/>"),
              HasSubstr("hosts and zones in one zone"));
  EXPECT_THAT(inside("", "Vivaldi"), HasSubstr("routing=\"Vivaldi\" is not supported"));
  EXPECT_THAT(inside("<backbone id=\"m\" bandwidth=\"1Gbps\"/>"), HasSubstr("without a hub"));
  EXPECT_THAT(inside("<link id=\"m\" bandwidth=\"1Gbps\" sharing_policy=\"SPLITDUPLEX\"/>"
                     "<route src=\"a\" dst=\"b\"><link_ctn id=\"m\"/></route>"),
              HasSubstr("m has two directions"));
  EXPECT_THAT(platform_refusal("<platform version=\"3\"/>"), HasSubstr("simgrid_update_xml"));
  EXPECT_THAT(platform_refusal("<platform version=\"4.1\"></platform>"), HasSubstr("no host"));
  EXPECT_THAT(platform_refusal("<!DOCTYPE platform [<!ENTITY a \"b\">]><platform/>"),
              HasSubstr("document type declaration"));
  const auto cluster = [](const std::string& more) {
    return platform_refusal(
        "<platform version=\"4.1\">\n<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-7\" "
        "bw=\"1Gbps\" lat=\"1us\" " +
        more + "/></platform>");
  };
  EXPECT_EQ(cluster(""), "accepted");
  EXPECT_THAT(cluster("topology=\"TORUS\" topo_parameters=\"2,2\""),
              AllOf(StartsWith("p.xml:2: "), HasSubstr("room for 4 hosts, radical names 8")));
  EXPECT_THAT(cluster("topology=\"TORUS\" topo_parameters=\"2,x\""), HasSubstr("'2,x' is no list"));
  EXPECT_THAT(cluster("topology=\"FAT_TREE\" topo_parameters=\"2;4,2;1\""),
              HasSubstr("levels; children; parents; ports"));
  EXPECT_THAT(cluster("topology=\"FAT_TREE\" topo_parameters=\"1;8;65536;65536\""),
              HasSubstr("more than 4194304 links"));
  EXPECT_THAT(cluster("topology=\"DRAGONFLY\" topo_parameters=\"4,1;1,1;2,1;1\""),
              HasSubstr("more groups than a chassis has blades"));
  EXPECT_THAT(cluster("topology=\"RING\""), HasSubstr("topology=\"RING\""));
  EXPECT_THAT(cluster("limiter_link=\"1Gbps\""), HasSubstr("limiter_link of <cluster>"));
  EXPECT_THAT(platform_refusal("<platform version=\"4.1\"><cluster id=\"c\" radical=\"0-70000\" "
                               "bw=\"1Gbps\"/></platform>"),
              HasSubstr("more than 65536 hosts"));
}

TEST(Platform, AsksForGatewaysOfTheZonesThatARouteJoins) {
  const auto joined = [](const std::string& out, const std::string& in) {
    return platform_refusal(
        "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">"
        "<zone id=\"x\" routing=\"None\"><host id=\"a\"/></zone>"
        "<zone id=\"y\" routing=\"None\"><host id=\"b\"/></zone>"
        "<link id=\"l\" bandwidth=\"1Gbps\"/>"
        "<zoneRoute src=\"x\" dst=\"y\" gw_src=\"" +
        out + "\" gw_dst=\"" + in + "\"><link_ctn id=\"l\"/></zoneRoute></zone></platform>");
  };
  EXPECT_EQ(joined("a", "b"), "accepted");
  EXPECT_THAT(joined("b", "b"), HasSubstr("gw_src: b is no host or router of x"));
  EXPECT_THAT(joined("a", "y"), HasSubstr("gw_dst: y is no host or router of y"));
  EXPECT_THAT(joined("a", "c"), HasSubstr("there is no c"));
}

std::string made(const std::string& inside, int hosts) {
  const auto platform = parse_platform(zone_with(inside), "p.xml");
  if (!platform) return platform.error().message;
  FabricSettings settings{.kind = FabricKind::Platform, .where = "p.xml"};
  settings.platform = std::make_shared<const Platform>(*platform);
  const auto fabric = make_fabric(settings, {{.count = hosts, .nics = {{50e9}, {50e9}}}});
  return fabric ? "made" : fabric.error().message + ": " + fabric.error().help;
}

TEST(PlatformFabric, RefusesUnsupportedQuestions) {
  const std::string hosts = "<host id=\"a\"/><host id=\"b\"/>";
  EXPECT_EQ(made(hosts, 2), "made");
  EXPECT_THAT(made(hosts, 3), HasSubstr("3 hosts, the platform has 2"));
  const auto fat = [&](const std::string& rate) {
    return made(hosts + "<link id=\"l\" sharing_policy=\"FATPIPE\" bandwidth=\"" + rate + "\"/>",
                2);
  };
  EXPECT_EQ(fat("50GBps"), "made");
  EXPECT_THAT(fat("49GBps"), AllOf(StartsWith("p.xml:3: l holds"), HasSubstr("give it SHARED")));
}

// Both NICs of a host share its links; before those, each NIC has a cable of its own.
TEST(PlatformFabric, AddsLatenciesAndSharesAHostsLinks) {
  FabricSettings settings{.kind = FabricKind::Platform, .where = "p.xml"};
  const auto platform = parse_platform(
      zone_with(kTwoHosts + "<link id=\"fat\" bandwidth=\"1TBps\" latency=\"3us\" "
                            "sharing_policy=\"FATPIPE\"/>"
                            "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/><link_ctn id=\"fat\"/>"
                            "<link_ctn id=\"l\"/></route>"),
      "p.xml");
  settings.platform = std::make_shared<const Platform>(*platform);
  const auto fabric = make_fabric(settings, {{.count = 2, .nics = {{50e9}, {50e9}}}});
  ASSERT_TRUE(fabric) << fabric.error().message;
  const FabricRoute route = (*fabric)->route({0, 1}, {1, 0}, 7);
  std::vector<std::string> crossed;
  for (const int id : route.links) crossed.push_back((*fabric)->link(id).name);
  EXPECT_THAT(crossed, ElementsAre("host 0 nic 1 -> zone 0", "l", "zone 0 -> host 1 nic 0"));
  EXPECT_DOUBLE_EQ(route.latency.count(), 5e-6);
  EXPECT_EQ((*fabric)->route({0, 0}, {1, 1}, 8).links[1], route.links[1]);
  EXPECT_DOUBLE_EQ((*fabric)->link(route.links[1]).rate.value, 1e9);
  EXPECT_DOUBLE_EQ((*fabric)->shape().bisection.value, 1e9);
}

}  // namespace
}  // namespace ringside
