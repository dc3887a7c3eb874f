#include <gtest/gtest.h>

#include <iostream>

#include "tests/audit/accuracy.h"

namespace ringside {
namespace {

// The bars are those that the project promises; the table says where a failure comes from.
class AuditCorpus : public ::testing::Test {
 protected:
  static const std::vector<corpus::Sample>& samples() {
    static const std::vector<corpus::Sample> kSamples = corpus::audit_corpus();
    return kSamples;
  }
  void SetUp() override { ASSERT_FALSE(samples().empty()); }
};

TEST_F(AuditCorpus, FindsWhatIsLabelledOnRealLogs) {
  std::cout << corpus::accuracy_page(samples());
  EXPECT_GE(corpus::totals_of(samples()).real.recall(), 0.98);
}

TEST_F(AuditCorpus, FindsWhatIsLabelledOnRecreatedLogs) {
  EXPECT_GE(corpus::totals_of(samples()).recreated.recall(), 0.95);
}

TEST_F(AuditCorpus, ReportsNothingThatMustNotBeReported) {
  EXPECT_EQ(corpus::totals_of(samples()).false_alarms, 0);
}

TEST_F(AuditCorpus, HealthyLogsAreFree) {
  EXPECT_EQ(corpus::totals_of(samples()).unlabelled_on_healthy, 0);
}

TEST_F(AuditCorpus, EvidenceOverlapsTheLabels) {
  const corpus::Totals totals = corpus::totals_of(samples());
  EXPECT_GE(totals.overlapping, 0.95 * totals.matched);
}

TEST_F(AuditCorpus, NearlyAllLinesOfTheStackAreRead) {
  for (const std::string folder : {"logs", "pastes"}) {
    const corpus::Unread unread = corpus::unread_lines(folder);
    EXPECT_GT(unread.stack_lines, 100U) << folder;
    EXPECT_LT(unread.share(), 0.02) << folder << ": " << unread.unread;
  }
}

}  // namespace
}  // namespace ringside
