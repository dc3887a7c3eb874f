#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/hangdetect/perturb.h"
#include "tests/hangdetect/score.h"

namespace ringside::hang {
namespace {

class HarmedRuns : public testing::TestWithParam<Harm> {};

// One variant of each case, another one from case to case; ringside_hang_accuracy takes them all.
TEST_P(HarmedRuns, MakeNoVerdictConfidentAndWrong) {
  const std::vector<std::string> cases = corpus_cases("fr-torch");
  ASSERT_FALSE(cases.empty());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const int variants = variants_of(cases[i], GetParam());
    if (variants == 0) continue;
    const int variant = static_cast<int>(i) % variants;
    const HarmedCase harmed(cases[i], GetParam(), variant);
    const Scored one = score(harmed.path(), load_label(cases[i] + "/label.json"));
    EXPECT_FALSE(one.is_confident_wrong()) << "variant " << variant << ", " << line_of(one);
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
