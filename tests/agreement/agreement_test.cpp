#include "tests/agreement/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/oracle.h"

namespace ringside {
namespace {

TEST(Agreement, EveryDecisionOfEveryGoldenFileIsNccls) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  for (const std::string& name : oracle::golden_names()) {
    SCOPED_TRACE(name);
    for (const auto& [part, comparison] : oracle::compare_all(name)) {
      SCOPED_TRACE(part);
      EXPECT_GT(comparison.checked, 0);
      EXPECT_THAT(comparison.differences, testing::IsEmpty());
    }
  }
}

}  // namespace
}  // namespace ringside
