#include "tests/agreement/releases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/oracle.h"

namespace ringside::oracle {
namespace {

class Release : public testing::TestWithParam<const char*> {};

TEST_P(Release, TunerDecidesLikeNcclsOwnCode) {
  const ReleaseAgreement agreement = compare_release(GetParam());
  EXPECT_GT(agreement.files, 50);
  for (const auto& count : agreement.counts) EXPECT_GT(count.checked, 0);
  EXPECT_THAT(agreement.differences, testing::IsEmpty());
}

// Compares everything from the topology on: graphs, rings, trees, channels, then the choices on them.
TEST_P(Release, DecidesFromTheTopologyLikeNcclsOwnCode) {
  const WholeAgreement agreement = compare_whole_release(GetParam());
  EXPECT_GT(agreement.files, 50);
  for (const auto& count : agreement.counts) EXPECT_GT(count.checked, 0);
  EXPECT_THAT(agreement.unknown, testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Tuner, Release,
                         testing::Values("2.18.5", "2.19.3", "2.20.5", "2.21.5", "2.22.3", "2.23.4",
                                         "2.24.3", "2.25.1", "2.26.2", "2.27.5", "2.28.9", "2.29.7",
                                         "2.31.2"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace ringside::oracle
