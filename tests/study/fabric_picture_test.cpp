#include "study/explain/fabric_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fabric/cases.h"

namespace ringside::study {
namespace {

using testing::ElementsAre;

// 4 hosts of 2 NICs on 2 leaves, 4 spines; one cable of 16 is down.
TEST(FabricPicture, HasEachBoxAndWhatJoinsThem) {
  const auto fabric = fabric_of(
      "{kind: leaf_spine, hosts_per_leaf: 2, degraded: [{link: spine 3 -> leaf 1, share: 0}]}", 4);
  const FabricPicture picture = fabric_picture(**fabric, 0);
  ASSERT_EQ(picture.rows.size(), 3U);
  EXPECT_THAT(picture.rows[0].boxes, ElementsAre("host 0", "host 1", "host 2", "host 3"));
  EXPECT_THAT(picture.rows[1].boxes, ElementsAre("leaf 0", "leaf 1"));
  EXPECT_EQ(picture.rows[1].holds, "4 NICs down, 4 links up");
  EXPECT_THAT(picture.rows[2].boxes, ElementsAre("spine 0", "spine 1", "spine 2", "spine 3"));
  ASSERT_EQ(picture.lines.size(), 4U + 8U);
  EXPECT_EQ(picture.lines[0].cables, 2);  // both NICs of a host
  EXPECT_DOUBLE_EQ(picture.lines[0].built.value, 100e9);
  int down = 0;
  for (const FabricPicture::Line& line : picture.lines) {
    const bool is_it = line.from == FabricPicture::Box{1, 1} && line.to == FabricPicture::Box{2, 3};
    EXPECT_EQ(line.share, is_it ? 0 : 1);
    down += is_it ? 1 : 0;
  }
  EXPECT_EQ(down, 1);
}

// Of 64 hosts on 16 leaves, the picture shows 4 leaves with 2 hosts each.
TEST(FabricPicture, AFewDevicesRepresentMany) {
  const auto fabric = fabric_of("{kind: leaf_spine, hosts_per_leaf: 4}", 64);
  const FabricPicture picture = fabric_picture(**fabric, 4);
  EXPECT_EQ(picture.rows[0].count, 64);
  EXPECT_EQ(picture.rows[0].boxes.size(), 8U);
  EXPECT_EQ(picture.rows[1].count, 16);
  EXPECT_EQ(picture.rows[1].boxes.size(), 4U);
  EXPECT_EQ(picture.lines.size(), 8U + 4U * 4U);
}

// A torus joins routers of one row: 9 of them by 18 cables.
TEST(FabricPicture, JoinsBoxesOfOneRow) {
  const auto fabric = fabric_of("{kind: torus, dims: [3, 3]}", 9, 1);
  const FabricPicture picture = fabric_picture(**fabric, 0);
  ASSERT_EQ(picture.rows.size(), 2U);
  EXPECT_EQ(picture.rows[1].boxes.size(), 9U);
  EXPECT_EQ(picture.lines.size(), 9U + 18U);
  for (const FabricPicture::Line& line : picture.lines) EXPECT_EQ(line.cables, 1);
}

}  // namespace
}  // namespace ringside::study
