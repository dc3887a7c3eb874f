#include "engine/debuglog/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/debuglog/subsystem.h"
#include "engine/releases/releases.h"

namespace ringside {
namespace {

using testing::HasSubstr;

TEST(NcclVersion, APatchOrOnlyAMinor) {
  EXPECT_EQ(*parse_nccl_version("2.21.5"), (NcclVersion{21, 5}));
  EXPECT_EQ(*parse_nccl_version("2.19.3+cuda12.3"), (NcclVersion{19, 3}));
  EXPECT_EQ(*parse_nccl_version("2.21"), (NcclVersion{21, 5}));
  EXPECT_EQ(*parse_nccl_version("2.30"), (NcclVersion{30, 7}));
}

// A release that is described has a log, with the same newest patch.
TEST(NcclVersion, EachDescribedReleaseIsOne) {
  for (const std::string& release : release_versions()) {
    const auto version = parse_nccl_version(release);
    ASSERT_TRUE(version) << version.error().message;
    EXPECT_EQ(to_string(*version), newest_patch(release));
  }
}

TEST(NcclVersion, InvalidVersionsAreRejected) {
  for (const char* text : {"", "2", "2.", "2.x", "2.21.5.1", "2.21.", "-2.21", "v2.21"}) {
    const auto version = parse_nccl_version(text);
    ASSERT_FALSE(version) << text;
    EXPECT_EQ(version.error().code, ErrorCode::InvalidArgument) << text;
  }
  for (const char* text : {"1.30", "2.6.4", "2.99", "3.0"}) {
    const auto version = parse_nccl_version(text);
    ASSERT_FALSE(version) << text;
    EXPECT_EQ(version.error().code, ErrorCode::InvalidArgument) << text;
    EXPECT_THAT(version.error().help, HasSubstr("2.7 .. " + release_versions().front()));
  }
}

// Both `generate` and `topo` refuse a version that no data describe; a patch within a minor version is a release like
// any other.
TEST(NcclVersion, APatchBeyondTheNewestNamesTheNearest) {
  for (const std::string& release : release_versions()) {
    const std::string newest = newest_patch(release);
    EXPECT_TRUE(parse_nccl_version(newest)) << newest;
    const auto beyond = parse_nccl_version(release + ".99");
    ASSERT_FALSE(beyond) << release;
    EXPECT_EQ(beyond.error().code, ErrorCode::NotFound) << release;
    EXPECT_THAT(beyond.error().help, HasSubstr(newest));
  }
  const auto old = parse_nccl_version("2.12.13");
  ASSERT_FALSE(old);
  EXPECT_THAT(old.error().help, HasSubstr("2.12.12"));
  EXPECT_EQ(*parse_nccl_version("2.27.3"), (NcclVersion{27, 3}));
}

// From 2.9 on 10000 x major + 100 x minor + patch, before 1000 x major.
TEST(NcclVersion, HasANumber) {
  EXPECT_EQ(version_code({21, 5}), 22105);
  EXPECT_EQ(version_code({9, 9}), 20909);
  EXPECT_EQ(version_code({7, 8}), 2708);
}

TEST(Subsystems, TheDefaultGrewTwice) {
  EXPECT_EQ(default_subsystems({15, 5}), Subsystems{Subsystem::Init});
  EXPECT_EQ(default_subsystems({16, 5}), Subsystem::Init | Subsystem::Env);
  EXPECT_EQ(default_subsystems({22, 3}), Subsystem::Init | Subsystem::Env);
  EXPECT_EQ(default_subsystems({23, 4}), Subsystem::Init | Subsystem::Env | Subsystem::Bootstrap);
}

TEST(Subsystems, AListOrAllButAList) {
  EXPECT_EQ(*parse_subsystems("INIT,graph"), Subsystem::Init | Subsystem::Graph);
  const Subsystems others = *parse_subsystems("^COLL,TUNING");
  EXPECT_TRUE(others.meets(Subsystem::Net));
  EXPECT_FALSE(others.meets(Subsystem::Coll | Subsystem::Tuning));
  EXPECT_TRUE(parse_subsystems("ALL")->meets(Subsystem::Destroy));
}

TEST(Subsystems, NcclItselfPassesOverUnknownWords) {
  EXPECT_EQ(known_subsystems("INIT,GRAHP"), Subsystems{Subsystem::Init});
  EXPECT_TRUE(known_subsystems("^GRAHP").meets(Subsystem::Init));
}

TEST(Subsystems, AnUnknownWordNamesTheNearest) {
  const auto subsystems = parse_subsystems("INIT,GRAHP");
  ASSERT_FALSE(subsystems);
  EXPECT_THAT(subsystems.error().help, HasSubstr("did you mean 'GRAPH'"));
}

}  // namespace
}  // namespace ringside
