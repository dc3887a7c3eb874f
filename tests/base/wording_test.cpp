#include "base/wording.h"

#include <gtest/gtest.h>

#include <vector>

namespace ringside {
namespace {

TEST(Wording, OneIsNotMany) {
  EXPECT_EQ(plural(1, "rank", "ranks"), "1 rank");
  EXPECT_EQ(plural(0, "rank", "ranks"), "0 ranks");
}

TEST(Wording, ALongListCountsTheOmittedEntries) {
  const std::vector<std::string> names{"a", "b", "c"};
  EXPECT_EQ(list_of(names, 3), "a, b, c");
  EXPECT_EQ(list_of(names, 2), "a, b and 1 more");
}

TEST(Wording, CutCountsCharactersAndNotBytes) {
  EXPECT_EQ(cut("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(cut("abcdefghi", 8), "abcde...");
  EXPECT_EQ(cut("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 8).size(), 16U);
}

TEST(Wording, WrapBreaksAtBlanks) {
  EXPECT_EQ(wrap("one two three", "- ", "  ", 10), "- one two\n  three\n");
}

TEST(Wording, WrapCountsCharactersAndNotBytes) {
  EXPECT_EQ(wrap("\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\xc3\xa4", "", "", 7),
            "\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\xc3\xa4\n");
}

}  // namespace
}  // namespace ringside
