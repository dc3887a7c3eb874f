#include "gui/model/waits.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringside::gui {
namespace {

constexpr Canvas kWaitsCanvas{.width = 900, .height = 100};

Picture drawn(const std::vector<WaitingRank>& ranks) {
  Picture picture;
  draw_waits(ranks, kWaitsCanvas, picture);
  return picture;
}

bool says(const Picture& picture, const std::string& text) {
  return std::ranges::any_of(picture.words, [&](const Words& words) { return words.text == text; });
}

// Seven ranks that wait for one that never came are one box and one arrow.
TEST(Waits, EqualRanksAreOneBox) {
  std::vector<WaitingRank> ranks;
  for (int rank = 0; rank < 7; ++rank) {
    ranks.push_back({.rank = rank, .for_whom = {7}, .at = "all_reduce 12 of default_pg"});
  }
  ranks.push_back({.rank = 7, .for_whom = {}, .at = {}, .is_culprit = true});
  const Picture picture = drawn(ranks);
  EXPECT_TRUE(says(picture, "ranks 0-6"));
  EXPECT_TRUE(says(picture, "rank 7"));
  EXPECT_TRUE(says(picture, "all_reduce 12 of default_pg"));
  ASSERT_EQ(picture.strokes.size(), 1U);
  EXPECT_TRUE(picture.strokes[0].has_head);
  EXPECT_LT(picture.strokes[0].x0, picture.strokes[0].x1);  // the waiting rank is at the left
  EXPECT_EQ(picture.strokes[0].ink, Ink::Bad);
  EXPECT_GT(picture.height, 0);
}

TEST(Waits, ADeadRankIsNamedAsSuch) {
  const Picture picture =
      drawn({{.rank = 0, .for_whom = {1}, .at = "all_reduce 12"},
             {.rank = 1, .for_whom = {}, .at = {}, .is_culprit = true, .is_dead = true}});
  EXPECT_TRUE(says(picture, "its process has ended"));
  EXPECT_FALSE(says(picture, "is not blocked"));
}

TEST(Waits, ACycleHasAnArrowInEachDirection) {
  const Picture picture =
      drawn({{.rank = 0, .for_whom = {1}, .at = "a"}, {.rank = 1, .for_whom = {0}, .at = "b"}});
  ASSERT_EQ(picture.strokes.size(), 2U);
  EXPECT_EQ(picture.spots.size(), 2U);
}

TEST(Waits, DrawsNoPictureWithoutWaitingRanks) {
  const Picture picture = drawn({{.rank = 0, .for_whom = {}, .at = {}}});
  EXPECT_TRUE(picture.boxes.empty());
  EXPECT_EQ(picture.height, 0);
}

// A chain of a thousand is not drawn as a thousand boxes.
TEST(Waits, CountsRanksThatDoNotFitIntoThePicture) {
  std::vector<WaitingRank> ranks;
  for (int rank = 0; rank < 1000; ++rank) {
    ranks.push_back({.rank = rank, .for_whom = {1000}, .at = std::to_string(rank)});
  }
  ranks.push_back({.rank = 1000, .for_whom = {}, .at = {}, .is_culprit = true});
  const Picture picture = drawn(ranks);
  EXPECT_EQ(picture.strokes.size(), 24U);
  EXPECT_TRUE(says(picture, "976 more"));
}

}  // namespace
}  // namespace ringside::gui
