#include "tests/diag/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "diag/audit/audit.h"
#include "tests/diag/labelled_hangs.h"
#include "tests/diag/labelled_logs.h"
#include "tests/support/paste_variants.h"

namespace ringside::diag {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Row row(Outcome outcome, const std::string& verdict = "dead_rank [3] low") {
  return {"invented", "one", "hang", "yes", outcome, verdict, {}};
}

TEST(Baseline, AWorseCaseFails) {
  const Differences found = compare({row(Outcome::Right)}, {row(Outcome::Fair)}, {});
  EXPECT_THAT(found.worse, ElementsAre(HasSubstr("invented one: right")));
  EXPECT_TRUE(found.is_failure());
}

TEST(Baseline, AWrongAnswerThatIsSurerIsWorse) {
  const Row sure = row(Outcome::Wrong, "dead_rank [3] high");
  EXPECT_EQ(compare({row(Outcome::Wrong)}, {sure}, {}).worse.size(), 1U);
  EXPECT_EQ(compare({sure}, {row(Outcome::Wrong)}, {}).better.size(), 1U);
}

TEST(Baseline, ACaseThatIsWorseInAFormOfItsTextFails) {
  Row worse = row(Outcome::Right);
  worse.forms = {{"quoted", Outcome::Silent}, {"wrapped at 80", Outcome::Right}};
  EXPECT_EQ(compare({row(Outcome::Right)}, {worse}, {}).worse.size(), 1U)
      << "a form that is not listed has the outcome of the text as it is";
  EXPECT_EQ(compare({worse}, {worse}, {}).worse.size(), 0U);
  Row better = worse;
  better.forms["quoted"] = Outcome::Fair;
  EXPECT_EQ(compare({worse}, {better}, {}).better.size(), 1U);
}

TEST(Baseline, ABetterCaseFailsUntilTheBaselineIsUpdated) {
  const Differences found = compare({row(Outcome::Fair)}, {row(Outcome::Right)}, {});
  EXPECT_EQ(found.better.size(), 1U);
  EXPECT_TRUE(found.is_failure());
}

TEST(Baseline, AnEquallyGoodVerdictPasses) {
  const Differences found =
      compare({row(Outcome::Right)}, {row(Outcome::Right, "straggler [3] high")}, {});
  EXPECT_EQ(found.other.size(), 1U);
  EXPECT_FALSE(found.is_failure());
}

TEST(Baseline, CasesAndRowsBelongTogetherUnlessTheirSetIsAbsent) {
  EXPECT_TRUE(compare({}, {row(Outcome::Right)}, {}).is_failure());
  EXPECT_TRUE(compare({row(Outcome::Right)}, {}, {}).is_failure());
  EXPECT_FALSE(compare({row(Outcome::Right)}, {}, {"invented"}).is_failure());
}

TEST(Baseline, ReadsWhatItWrites) {
  Row with_forms = row(Outcome::Wrong);
  with_forms.forms = {{"quoted", Outcome::Silent}, {"wrapped at 80", Outcome::Fair}};
  const std::string path = testing::TempDir() + "/" +
                           testing::UnitTest::GetInstance()->current_test_info()->name() + ".tsv";
  std::ofstream(path) << write_baseline({row(Outcome::Right), with_forms});
  EXPECT_THAT(read_baseline(path), ElementsAre(row(Outcome::Right), with_forms));
  std::ofstream(path) << "a\tb\thang\tyes\tgood\tx\n";
  EXPECT_THROW(read_baseline(path), std::runtime_error);
}

hang::ScoredHang score_nothing(std::vector<std::string> kinds,
                               std::vector<std::vector<int>> culprits) {
  return hang::score({.id = "one",
                      .kinds = std::move(kinds),
                      .culprits = std::move(culprits),
                      .files = {{"a.txt", "nothing at all\n"}}});
}

// A scorer that accepts everything would pass the comparison with the baseline.
TEST(LabelledHang, AnEmptyTextIsUnknown) {
  EXPECT_EQ(score_nothing({"unknown"}, {{}}).outcome, Outcome::Right);
  EXPECT_EQ(score_nothing({"dead_rank"}, {{1}}).outcome, Outcome::Silent);
  EXPECT_EQ(score_nothing({"unknown"}, {{1}}).outcome, Outcome::Fair) << "no rank is named";
}

TEST(LabelledHang, AnInnocentRankIsWrong) {
  const std::string killed =
      "[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.\n";
  hang::LabelledHang hang{
      .id = "one", .kinds = {"dead_rank"}, .culprits = {{2}}, .files = {{"a.txt", killed}}};
  ASSERT_EQ(hang::score(hang).outcome, Outcome::Right) << hang::score(hang).why;
  hang.culprits = {{3}};
  EXPECT_EQ(hang::score(hang).outcome, Outcome::Wrong);
  hang.culprits = {{2, 3}};
  EXPECT_EQ(hang::score(hang).outcome, Outcome::Fair) << "a part of the culprits";
}

constexpr const char* kDuplicate =
    "n01:411:980 [3] init.cc:943 NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on CUDA "
    "device 1000\n";

Outcome outcome_of(audit::LabelledLog log) {
  log.text = kDuplicate;
  return audit::answer_of(log).outcome;
}

TEST(LabelledLog, IsComparedWithItsLabels) {
  const auto wanted = [](const std::string& id, const std::string& word) {
    return audit::LabelledLog{.wanted = {{.ids = {id}, .said = {{word}}}}, .must_be_first = true};
  };
  EXPECT_EQ(outcome_of(wanted("duplicate_gpu", "same GPU")), Outcome::Right);
  EXPECT_EQ(outcome_of(wanted("duplicate_gpu", "another planet")), Outcome::Fair);
  EXPECT_EQ(outcome_of(wanted("gdr_missing", "x")), Outcome::Wrong) << "another cause is named";
  EXPECT_EQ(outcome_of({.forbids_others = true}), Outcome::Wrong) << "it is labelled healthy";
  EXPECT_EQ(outcome_of({.forbidden = {{"duplicate_gpu", audit::Severity::Warning}}}),
            Outcome::Wrong);
  EXPECT_EQ(outcome_of({.wanted = {{.ids = {"gdr_missing"}}}}), Outcome::Silent);
  EXPECT_EQ(outcome_of({.wanted = {{.ids = {"duplicate_gpu"}, .quoted_lines = {7}}}}),
            Outcome::Fair)
      << "on another line";
}

TEST(PasteVariants, EachChangesTheTextInItsOwnWay) {
  const std::string line =
      "n01:411:980 [3] init.cc:943 NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on "
      "CUDA device 1000, in a line that is longer than any terminal of people who paste\n";
  const std::string logger =
      "[rank1]:[E612 08:15:40.101 ProcessGroupNCCL.cpp:616] [Rank 1] lost 10.1.0.2 on node1\n";
  std::vector<std::string> seen;
  for (const pastes::Variant& variant : pastes::variants()) {
    const std::string text = variant.change(line + logger);
    for (const std::string& other : seen) EXPECT_NE(text, other) << variant.name;
    seen.push_back(text);
  }
  EXPECT_GE(seen.size(), 27U);
}

}  // namespace
}  // namespace ringside::diag
