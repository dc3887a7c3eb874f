#include "engine/releases/releases.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/channels/rules.h"
#include "engine/topology/rules.h"

namespace ringside {
namespace {

// Written so that one more release needs its file and no change here.
TEST(Releases, NewestFirst) {
  ASSERT_GT(release_versions().size(), 12U);
  const auto base = std::ranges::find(release_versions(), kBaseRelease);
  ASSERT_NE(base, release_versions().end());
  EXPECT_EQ(*(base - 1), "2.31");
  EXPECT_EQ(*(base + 1), "2.29");
  EXPECT_EQ(*(base + 12), "2.18");
  EXPECT_NE(std::ranges::find(release_versions(), kDefaultRelease), release_versions().end());
}

TEST(Releases, EachOneHasItsRules) {
  for (const auto& names : {release_versions(), release_patches()}) {
    for (const std::string& version : names) {
      const auto topology = load_topology_rules(version);
      ASSERT_TRUE(topology) << topology.error().message << " " << topology.error().help;
      const auto channels = load_channel_rules(version);
      ASSERT_TRUE(channels) << channels.error().message << " " << channels.error().help;
    }
  }
}

// The defaults of the structs describe the base release; its file adds nothing.
TEST(Releases, TheBaseReleaseEqualsTheMembersDefaults) {
  EXPECT_EQ(*load_topology_rules("2.30.7"), TopologyRules{});
  EXPECT_EQ(*load_channel_rules("2.30.7"), ChannelRules{});
}

TEST(Releases, AnUnknownOneNamesTheKnown) {
  for (const char* const wrong : {"2.5", "2.30.8", "2", "", "x"}) {
    const auto topology = load_topology_rules(wrong);
    ASSERT_FALSE(topology) << wrong;
    EXPECT_EQ(topology.error().code, ErrorCode::NotFound);
    EXPECT_NE(topology.error().help.find("2.30, 2.29"), std::string::npos);
    EXPECT_FALSE(load_channel_rules(wrong)) << wrong;
  }
}

// 2.27.6 begins at 96 GB/s, 2.27.5 at 48, 2.27.3 just below: each patch is as the next one that is described.
TEST(Releases, PatchesDifferInTheirSpeeds) {
  const auto fastest = [](const char* version) {
    return load_channel_rules(version)->search.ladders.of(100, true).front();
  };
  EXPECT_EQ(fastest("2.27.7"), 96);
  EXPECT_EQ(fastest("2.27"), 96);
  EXPECT_EQ(fastest("2.27.5"), 48);
  EXPECT_EQ(fastest("2.27.4"), 48);
  EXPECT_FLOAT_EQ(fastest("2.27.3"), 47.9F);
}

// 2.19.1 searches as 2.18 does; 2.30.3 and 2.30.4 take a wider path of as many hops, whatever its type.
TEST(Releases, PatchesDifferInTheirRules) {
  EXPECT_EQ(load_channel_rules("2.19.1")->search.switch_next, SwitchNext::Any);
  EXPECT_EQ(load_channel_rules("2.19.1")->search.most_steps, 327'680);
  EXPECT_EQ(load_channel_rules("2.19.3")->search.switch_next, SwitchNext::Neighbours);
  EXPECT_TRUE(load_topology_rules("2.30.3")->paths_grow_by_hops);
  EXPECT_TRUE(load_topology_rules("2.30.4")->paths_grow_by_hops);
  EXPECT_FALSE(load_topology_rules("2.30.5")->paths_grow_by_hops)
      << "as the next that is described";
}

// A release that no file describes is decided as the nearest release that one describes.
TEST(Releases, EveryVersionHasANearest) {
  EXPECT_EQ(nearest_release(21, 5), "2.21.5");
  EXPECT_EQ(nearest_release(27, 3), "2.27.3");
  EXPECT_EQ(nearest_release(27), "2.27");
  EXPECT_EQ(nearest_release(27, 99), "2.27");
  EXPECT_EQ(nearest_release(5, 12), release_versions().back());
  EXPECT_EQ(nearest_release(99, 2), release_versions().front());
  for (int minor = 0; minor < 40; ++minor) {
    EXPECT_TRUE(load_topology_rules(nearest_release(minor, 1))) << minor;
  }
}

}  // namespace
}  // namespace ringside
