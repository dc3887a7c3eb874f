#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "diag/audit/needles.h"
#include "diag/audit/text_lines.h"

namespace ringside::audit {
namespace {

TEST(Needles, FindsEachTextThatALineHolds) {
  const std::array<std::string_view, 4> texts{"he", "she", "hers", "is"};
  const Needles needles(texts);
  EXPECT_EQ(needles.in("ushers"), 0b0111U);  // she, he in it, hers
  EXPECT_EQ(needles.in("this"), 0b1000U);
  EXPECT_EQ(needles.in(""), 0U);
}

TEST(TextLines, CutCountsCharactersAndNotBytes) {
  EXPECT_EQ(cut("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(cut("abcdefghi", 8), "abcde...");
  EXPECT_EQ(cut("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 8).size(), 16U);
}

TEST(TextLines, WrapBreaksAtBlanks) {
  EXPECT_EQ(wrap("one two three", "- ", "  ", 10), "- one two\n  three\n");
}

}  // namespace
}  // namespace ringside::audit
