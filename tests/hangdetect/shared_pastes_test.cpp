#include <gtest/gtest.h>

#include <string>

#include "tests/hangdetect/varied.h"
#include "tests/support/shared.h"

namespace ringside::hang {
namespace {

class SharedPastes : public testing::TestWithParam<pastes::Variant> {};

TEST_P(SharedPastes, OfPublicThreadsAreReadWhateverHappenedToTheirText) {
  PasteResult result = score_pastes(shared_folder() + "/corpus/hang-pastes", GetParam());
  EXPECT_GE(result.tally["yes"].share(), 0.85) << result.wrong;
  EXPECT_GE(result.tally["partly"].share(), 0.60) << result.wrong;
  EXPECT_EQ(result.tally["no"].share(), 1) << "blamed in vain" << result.wrong;
  EXPECT_EQ(result.tally["not_a_hang"].share(), 1) << "a false alarm" << result.wrong;
}

INSTANTIATE_TEST_SUITE_P(Variants, SharedPastes, testing::ValuesIn(pastes::variants()),
                         [](const auto& one) { return test_name(one.param); });

}  // namespace
}  // namespace ringside::hang
