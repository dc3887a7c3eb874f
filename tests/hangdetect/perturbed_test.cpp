#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/diag/labelled_hangs.h"
#include "tests/hangdetect/perturb.h"
#include "tests/support/shared.h"

namespace ringside::hang {
namespace {

class HarmedRuns : public testing::TestWithParam<Harm> {};

// Tests one variant of each case, which alternates from case to case; ringside_hang_accuracy tests all of them.
TEST_P(HarmedRuns, MakeNoVerdictConfidentAndWrong) {
  const auto cases = load_all_labelled_dumps(shared_folder() + "/corpus/fr-torch");
  ASSERT_FALSE(cases.empty());
  int number = 0;
  for (const LabelledHang& whole : cases) {
    const int variants = variants_of(whole.folder, GetParam());
    const int variant = variants == 0 ? 0 : number++ % variants;
    if (variants == 0) continue;
    const HarmedCase harmed(whole.folder, GetParam(), variant);
    LabelledHang hang = whole;
    hang.folder = harmed.path();
    const ScoredHang scored = score(hang);
    EXPECT_FALSE(scored.is_confident_wrong())
        << "variant " << variant << ", " << line_of(hang, scored);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, HarmedRuns, testing::ValuesIn(kHarms),
                         [](const testing::TestParamInfo<Harm>& one) {
                           std::string name = to_string(one.param);
                           std::erase_if(name, [](char c) { return c == ','; });
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace ringside::hang
