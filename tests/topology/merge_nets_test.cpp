#include "engine/topology/merge_nets.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/topology/host_edit.h"
#include "engine/topology/sources/host_yaml.h"

namespace ringside {
namespace {

/// 16 NICs of 200 Gbit/s, two below each switch of eight GPUs; and a card of two ports.
constexpr const char* kSixteen = R"(ringside: host/1
name: sixteen
like: dgx-h100
nics: {count: 16, rate: 200G, link: roce}
)";
constexpr const char* kTwoPorts = R"(ringside: host/1
name: ports
cpu: {arch: x86_64}
kinds:
  gpu: {is: gpu, pcie: gen5 x16, id: 10de:2330, gdr: yes}
  nic: {is: nic, pcie: gen5 x16, rate: 200G, link: ib, ports: 2}
tree:
- numa 0: [gpu 0 1b:00.0, nic 0 1c:00.0]
)";

/// Rates in Gbit/s after NCCL's fusion, by device.
std::vector<int> rates(const char* text, const TopologyParameters& parameters) {
  auto described = parse_host_yaml(text, "h.yaml");
  EXPECT_TRUE(described) << described.error().message;
  merge_nets(described->host, parameters);
  std::vector<int> all;
  for (const HostNetPlace& place : nets_of(described->host)) {
    all.push_back(place.net->mbits_per_second / 1000);
  }
  return all;
}

TEST(MergeNets, SixteenBelowEightSwitchesAreEight) {
  EXPECT_EQ(rates(kSixteen, {}), std::vector<int>(16, 200));
  EXPECT_EQ(rates(kSixteen, {.merge_level = PathType::Pix}), std::vector<int>(8, 400));
  // Within a socket the release's limit applies: two groups of four NICs each.
  TopologyParameters most{.merge_level = PathType::Phb};
  most.rules.merged_nets = 4;
  EXPECT_EQ(rates(kSixteen, most), std::vector<int>(4, 800));
}

TEST(MergeNets, PortsOfACardJoinUnlessTheyMayNot) {
  EXPECT_EQ(rates(kTwoPorts, {}), std::vector<int>{400});
  EXPECT_EQ(rates(kTwoPorts, {.merge_level = PathType::Loc}), std::vector<int>(2, 200));
  TopologyParameters old;
  old.rules.merged_nets = 1;
  EXPECT_EQ(rates(kTwoPorts, old), std::vector<int>(2, 200));
}

TEST(MergeNets, TheVirtualDeviceHasAllNamesAndLanes) {
  auto described = parse_host_yaml(kSixteen, "h.yaml");
  ASSERT_TRUE(described) << described.error().message;
  merge_nets(described->host, {.merge_level = PathType::Pix});
  const HostNetPlace first = nets_of(described->host).front();
  EXPECT_EQ(first.net->name, "rocep0+rocep1");
  EXPECT_EQ(first.function->link_width, 32);
}

}  // namespace
}  // namespace ringside
