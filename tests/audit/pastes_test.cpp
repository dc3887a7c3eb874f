#include "tests/audit/pastes.h"

#include <gtest/gtest.h>

namespace ringside::pastes {
namespace {

class AuditPastes : public ::testing::Test {
 protected:
  static const std::vector<Paste>& all() {
    static const std::vector<Paste> kPastes = labelled_pastes();
    return kPastes;
  }
  void SetUp() override { ASSERT_FALSE(all().empty()); }
};

// The promises, of each form that people give a log: the table of ringside_audit_pastes shows them one by one.
TEST_F(AuditPastes, AreAnsweredInAllForms) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name);
    Scores scores = score(all(), variant);
    const auto share = [&](Answerable kind) { return scores.by[kind].share(); };
    EXPECT_GE(share(Answerable::Yes), 0.85);
    EXPECT_GE(share(Answerable::Partly), 0.70);
    EXPECT_EQ(share(Answerable::No), 1.0);
    EXPECT_EQ(share(Answerable::Healthy), 1.0);
    for (const std::string& wrong : scores.wrong) GTEST_LOG_(INFO) << variant.name << ": " << wrong;
  }
}

TEST(AuditPasteVariants, EachChangesTheTextInItsOwnWay) {
  const std::string line =
      "n01:411:980 [3] init.cc:943 NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on "
      "CUDA device 1000, said by a line that is longer than any terminal of people who paste\n";
  const std::string logger =
      "[rank1]:[E612 08:15:40.101 ProcessGroupNCCL.cpp:616] [Rank 1] lost 10.1.0.2 on node1\n";
  std::vector<std::string> seen;
  for (const Variant& variant : variants()) {
    const std::string text = variant.change(line + logger);
    for (const std::string& other : seen) EXPECT_NE(text, other) << variant.name;
    seen.push_back(text);
  }
  EXPECT_GE(seen.size(), 27U);
}

}  // namespace
}  // namespace ringside::pastes
