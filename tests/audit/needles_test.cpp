#include "diag/audit/needles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::audit {
namespace {

using testing::ElementsAre;

std::vector<std::size_t> found_by(const Needles& needles, std::string_view line) {
  std::vector<std::size_t> found;
  needles.each_in(line, [&](std::size_t text) { found.push_back(text); });
  return found;
}

TEST(Needles, FindsEachTextThatALineHolds) {
  const std::array<std::string_view, 4> texts{"he", "she", "hers", "is"};
  const Needles needles(texts);
  EXPECT_THAT(found_by(needles, "ushers"), ElementsAre(1, 0, 2));  // she, he in it, hers
  EXPECT_THAT(found_by(needles, "this"), ElementsAre(3));
  EXPECT_THAT(found_by(needles, ""), ElementsAre());
}

TEST(Needles, MayBeMoreThanAWordHasBits) {
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back("<" + std::to_string(i) + ">");
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const Needles needles(views);
  EXPECT_THAT(found_by(needles, "<64> and <0>, <199>; not <64"), ElementsAre(64, 0, 199));
}

}  // namespace
}  // namespace ringside::audit
