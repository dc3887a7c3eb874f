#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden_compare.h"
#include "tests/support/golden_job.h"
#include "tests/support/oracle.h"

namespace ringside {
namespace {

using testing::IsEmpty;

/// Runs each golden file once; the comparisons below look at the same answer.
void expect_agreement(oracle::Differences (*compare)(const Json&, const Job&)) {
  for (const std::string& name : oracle::golden_names()) {
    SCOPED_TRACE(name);
    const Json golden = oracle::load_golden(name);
    EXPECT_THAT(compare(golden, oracle::solve(golden)), IsEmpty());
  }
}

TEST(JobGolden, SearchesFindTheGraphsThatNcclFinds) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  expect_agreement(oracle::compare_searches);
}

TEST(JobGolden, MergedGraphsAreNccls) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  expect_agreement(oracle::compare_merged);
}

TEST(JobGolden, TheCommunicatorsNumbersAreNccls) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  expect_agreement(oracle::compare_comm);
}

TEST(JobGolden, RingsTreesAndHeadsAreNccls) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  expect_agreement(oracle::compare_channels);
}

}  // namespace
}  // namespace ringside
