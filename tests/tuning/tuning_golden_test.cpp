#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden_compare_tuning.h"
#include "tests/support/golden_shape.h"
#include "tests/support/oracle.h"

namespace ringside {
namespace {

/// Fed with the merged graphs of the golden files, so that a failure here is the tuner's.
void expect_agreement(oracle::Comparison (*compare)(const Json&, const Tuner&)) {
  for (const std::string& name : oracle::golden_names()) {
    SCOPED_TRACE(name);
    const Json golden = oracle::load_golden(name);
    const auto tuner = Tuner::make(oracle::golden_shape(golden), {});
    ASSERT_TRUE(tuner) << tuner.error().message;
    const oracle::Comparison comparison = compare(golden, *tuner);
    EXPECT_GT(comparison.checked, 0);
    EXPECT_THAT(comparison.differences, testing::IsEmpty());
  }
}

TEST(TuningGolden, LatencyBandwidthAndThreadsAreNcclsInEveryFile) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  expect_agreement(oracle::compare_table);
}

TEST(TuningGolden, EveryChoiceForEverySizeIsNccls) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  expect_agreement(oracle::compare_choices);
}

}  // namespace
}  // namespace ringside
