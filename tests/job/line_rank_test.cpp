#include "diag/job/line_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::job {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LineRank, BracketsNameARank) {
  EXPECT_EQ(rank_in_text("terminated with exception: [Rank 3] Watchdog caught"), 3);
  EXPECT_EQ(rank_in_text("[default0]:[rank12]: x"), 12);
  EXPECT_EQ(rank_in_text("rank 3 of 8"), -1);
  EXPECT_EQ(rank_in_text("[Rank -1]"), -1);
  EXPECT_EQ(rank_in_text("[Rank 99999999999999]"), -1);
}

TEST(LineRank, PeopleWriteManyLinesAsOne) {
  EXPECT_THAT(ranks_in_brackets("[Rank 1-3] Watchdog caught"), ElementsAre(1, 2, 3));
  EXPECT_THAT(ranks_in_brackets("[Rank 0, 2] x"), ElementsAre(0, 2));
  EXPECT_THAT(ranks_in_brackets("[Rank of nobody]"), IsEmpty());
  EXPECT_THAT(ranks_in_brackets("[Rank 0-1000000]"), IsEmpty());
  EXPECT_THAT(ranks_in_brackets("[Rank 0, 2147483647]"), IsEmpty());
}

TEST(LineRanks, ALineMayBeginWithItsRank) {
  EXPECT_EQ(rank_before_text("rank 6: WorkNCCL(SeqNum=77)"), 6);
  EXPECT_EQ(rank_before_text("> rank=2 step=98"), 2);
  EXPECT_EQ(rank_before_text("Rank 3, iteration 7"), 3);
  EXPECT_EQ(rank_before_text("rank 2s"), -1);
  EXPECT_EQ(rank_before_text("ranks 2-3 wait"), -1);
  EXPECT_EQ(rank_before_text("the rank 2"), -1);
  EXPECT_EQ(rank_before_text("rank"), -1);
}

}  // namespace
}  // namespace ringside::job
