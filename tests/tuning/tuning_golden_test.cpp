#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/answer.h"
#include "tests/support/golden_shape.h"
#include "tests/support/oracle.h"

namespace ringside {
namespace {

/// Uses the merged graphs of the golden files, so that a failure here is the tuner's.
void expect_agreement(oracle::Part part, Json (*ours)(const Tuner&)) {
  for (const std::string& name : oracle::golden_names()) {
    SCOPED_TRACE(name);
    const Json golden = oracle::load_golden(name);
    const auto tuner = Tuner::make(oracle::golden_shape(golden), {});
    ASSERT_TRUE(tuner) << tuner.error().message;
    const auto comparison = oracle::compare(oracle::golden_part(golden, part), ours(*tuner));
    EXPECT_GT(comparison.checked, 0);
    EXPECT_THAT(comparison.differences, testing::IsEmpty());
  }
}

TEST(TuningGolden, LatencyBandwidthAndThreadsAreNcclsInEveryFile) {
  expect_agreement(oracle::Part::Costs, oracle::our_costs);
}

TEST(TuningGolden, EveryChoiceForEverySizeIsNccls) {
  expect_agreement(oracle::Part::Choices, oracle::our_choices);
}

}  // namespace
}  // namespace ringside
