#include "tests/hangdetect/pastes.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/hangdetect/paste_variants.h"

namespace ringside::hang {
namespace {

/// The folder of pastes that we wrote: their kinds and culprits were fixed before any was run.
std::string invented() { return RINGSIDE_INVENTED_PASTES; }

void expect_good(const std::string& folder, const PasteVariant& variant) {
  PasteResult result = score_pastes(folder, variant);
  EXPECT_GE(result.tally["yes"].share(), 0.85) << variant.name << result.wrong;
  EXPECT_GE(result.tally["partly"].share(), 0.60) << variant.name << result.wrong;
  EXPECT_EQ(result.tally["no"].share(), 1) << variant.name << ": blamed in vain" << result.wrong;
  EXPECT_EQ(result.tally["not_a_hang"].share(), 1)
      << variant.name << ": a false alarm" << result.wrong;
}

class HangPastes : public testing::TestWithParam<PasteVariant> {};

// Every variant is a text that somebody could paste: none of them may cost the answer.
TEST_P(HangPastes, OursAreReadWhateverHappenedToTheirText) { expect_good(invented(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Variants, HangPastes, testing::ValuesIn(paste_variants()),
                         [](const auto& one) { return test_name(one.param); });

// A scorer that calls everything right would pass all of the above.
TEST(PasteScorer, AWrongKindAndAnInnocentRankAreWrong) {
  Paste paste{"one", "yes", {"dead_rank"}, {{1}}, {{"a.txt", "nothing at all\n"}}};
  EXPECT_FALSE(score_paste(paste).is_right());
  paste.kinds = {"unknown"};
  EXPECT_FALSE(score_paste(paste).is_right()) << "nobody was named";
  paste.culprits = {{}};
  EXPECT_TRUE(score_paste(paste).is_right());
}

}  // namespace
}  // namespace ringside::hang
