#include "engine/releases/releases.h"

#include <gtest/gtest.h>

#include "engine/channels/rules.h"
#include "engine/topology/rules.h"

namespace ringside {
namespace {

TEST(Releases, NewestFirst) {
  ASSERT_GT(release_versions().size(), 12U);
  EXPECT_EQ(release_versions().front(), kNewestRelease);
  EXPECT_EQ(release_versions()[1], "2.29");
  EXPECT_EQ(release_versions().back(), "2.18");
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

// What the newest release does is said by the structs; its file adds nothing.
TEST(Releases, TheNewestDoesWhatTheMembersSay) {
  EXPECT_EQ(*load_topology_rules("2.30.7"), TopologyRules{});
  EXPECT_EQ(*load_channel_rules("2.30.7"), ChannelRules{});
}

TEST(Releases, AnUnknownOneNamesTheKnown) {
  for (const char* const wrong : {"2.17", "2.30.8", "2", "", "x"}) {
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

// What no file describes is decided as by the nearest that one does: 2.17 and before as 2.18, what is to come as 2.30.
TEST(Releases, EveryVersionHasANearest) {
  EXPECT_EQ(nearest_release(21, 5), "2.21.5");
  EXPECT_EQ(nearest_release(27, 3), "2.27.3");
  EXPECT_EQ(nearest_release(27), "2.27");
  EXPECT_EQ(nearest_release(27, 99), "2.27");
  EXPECT_EQ(nearest_release(12, 12), "2.18");
  EXPECT_EQ(nearest_release(31, 2), "2.30");
  for (int minor = 0; minor < 40; ++minor) {
    EXPECT_TRUE(load_topology_rules(nearest_release(minor, 1))) << minor;
  }
}

}  // namespace
}  // namespace ringside
