#include "sim/fabric/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Placement, PackedTakesTheFirstOnes) {
  EXPECT_THAT(*place_nodes({}, 8, 3), ElementsAre(0, 1, 2));
}

TEST(Placement, ScatteredIsAnyOrderAndTheSameForTheSameSeed) {
  const Placement scattered{.kind = Placement::Kind::Scattered, .seed = 3};
  const auto all = place_nodes(scattered, 64, 64);
  ASSERT_TRUE(all);
  std::vector<int> numbers(64);
  std::iota(numbers.begin(), numbers.end(), 0);
  EXPECT_THAT(*all, testing::UnorderedElementsAreArray(numbers));
  EXPECT_NE(*all, numbers);
  EXPECT_EQ(*all, *place_nodes(scattered, 64, 64));
  EXPECT_NE(*all, *place_nodes({.kind = Placement::Kind::Scattered, .seed = 4}, 64, 64));
  // A smaller job has the first of them.
  const auto some = place_nodes(scattered, 64, 5);
  EXPECT_TRUE(std::equal(some->begin(), some->end(), all->begin()));
}

TEST(Placement, AListIsTakenInItsOrder) {
  const Placement listed{.kind = Placement::Kind::Listed, .list = {5, 2, 7}, .where = "c.yaml:9"};
  EXPECT_THAT(*place_nodes(listed, 8, 2), ElementsAre(5, 2));
  EXPECT_THAT(place_nodes(listed, 8, 4).error().message, HasSubstr("4 of 3 nodes"));
  EXPECT_THAT(place_nodes(listed, 6, 2).error().message,
              HasSubstr("c.yaml:9: placement on node 7"));
  const Placement twice{.kind = Placement::Kind::Listed, .list = {5, 5}, .where = "c.yaml:9"};
  EXPECT_THAT(place_nodes(twice, 8, 1).error().message, HasSubstr("node 5 twice"));
}

TEST(Placement, RefusesMoreNodesThanExist) {
  EXPECT_FALSE(place_nodes({}, 8, 9));
  EXPECT_FALSE(place_nodes({}, 8, 0));
  EXPECT_TRUE(place_nodes({}, 8, 8));
}

}  // namespace
}  // namespace ringside
