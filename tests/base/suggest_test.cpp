#include "base/suggest.h"

#include <gtest/gtest.h>

#include <array>

namespace ringside {
namespace {

TEST(EditDistance, CountsInsertDropReplaceAndSwap) {
  EXPECT_EQ(edit_distance("ring", "ring"), 0);
  EXPECT_EQ(edit_distance("rng", "ring"), 1);
  EXPECT_EQ(edit_distance("rings", "ring"), 1);
  EXPECT_EQ(edit_distance("rong", "ring"), 1);
  EXPECT_EQ(edit_distance("rign", "ring"), 1);
  EXPECT_EQ(edit_distance("", "ring"), 4);
  EXPECT_EQ(edit_distance("RING", "ring"), 0);
}

TEST(NearestWord, NamesTheOneMeantAndStaysSilentWhenNoneIsNear) {
  constexpr std::array<std::string_view, 3> kKnown{"all_reduce", "all_gather", "broadcast"};
  EXPECT_EQ(nearest_word("allreduce", kKnown), "all_reduce");
  EXPECT_EQ(nearest_word("brodcast", kKnown), "broadcast");
  EXPECT_EQ(nearest_word("xyz", kKnown), "");
}

TEST(Suggestion, AsksAndLists) {
  constexpr std::array<std::string_view, 2> kKnown{"sim", "bench"};
  EXPECT_EQ(suggestion("bnech", kKnown), "did you mean 'bench'? known: sim, bench");
  EXPECT_EQ(suggestion("wonderful", kKnown), "known: sim, bench");
}

}  // namespace
}  // namespace ringside
