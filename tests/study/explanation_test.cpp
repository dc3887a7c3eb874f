#include "study/explain/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ringside::study {
namespace {

using testing::Contains;
using testing::HasSubstr;

ExplainQuestion on_two_dgx_h100(const std::string& sizes) {
  return {.job = {.on = "dgx-h100", .nodes = 2},
          .calls = {.collective = "all_reduce", .sizes = sizes}};
}

// 64 KiB on two DGX-H100: 25.2 + 65536 / (16575 x 0.6) = 31.79 us for tree/ll.
TEST(Explain, ASizeHasItsWaysItsChoiceAndWhy) {
  const Result<Explained> explained = explain(on_two_dgx_h100("64K"));
  ASSERT_TRUE(explained) << explained.error().message;
  EXPECT_FALSE(explained->before) << "nothing is set: there is nothing to compare with";
  const Explanation& now = explained->now;
  EXPECT_EQ(now.label, "NCCL " + now.nccl);
  EXPECT_EQ(now.shape.nranks, 16);
  ASSERT_EQ(now.sizes.size(), 1U);
  const ExplainedSize& size = now.sizes[0];
  EXPECT_EQ(size.candidates.size(), 21U);  // 7 algorithms x 3 protocols
  EXPECT_EQ(size.choice.algorithm, Algorithm::Tree);
  EXPECT_EQ(size.choice.protocol, Protocol::LL);
  EXPECT_NEAR(size.choice.prediction.time_us, 31.79, 0.005);
  EXPECT_EQ(size.verdict.term, "latency");
  ASSERT_TRUE(size.verdict.runner_up);
  EXPECT_GT(size.verdict.runner_up->prediction.time_us, size.choice.prediction.time_us);
}

TEST(Explain, SortsUnavailableCombinationsByObstacle) {
  const Result<Explained> explained = explain(on_two_dgx_h100("1M"));
  ASSERT_TRUE(explained) << explained.error().message;
  const Explanation& now = explained->now;
  EXPECT_THAT(now.available, Contains(Combination{Algorithm::NvlsTree, Protocol::Simple}));
  const auto has_collnet = [](const Obstructed& one) {
    return std::ranges::any_of(one.candidates, [](const Candidate& candidate) {
      return candidate.algorithm == Algorithm::CollNetChain;
    });
  };
  EXPECT_EQ(std::ranges::count_if(now.obstructed, has_collnet), 1);
  for (const Obstructed& one : now.obstructed) {
    EXPECT_NE(one.obstacle, Obstacle::None);
    EXPECT_NE(one.obstacle, Obstacle::NotForCollective);
    for (const Candidate& candidate : one.candidates) EXPECT_EQ(candidate.obstacle, one.obstacle);
  }
}

TEST(Explain, StretchesBeginAtTheLeastSizeAndHaveTheirTerms) {
  const Result<Explained> explained = explain(on_two_dgx_h100("1M"));
  ASSERT_TRUE(explained) << explained.error().message;
  const std::vector<ExplainedStretch>& stretches = explained->now.stretches;
  ASSERT_GT(stretches.size(), 1U);
  EXPECT_EQ(stretches.front().stretch.from, 8_B);
  for (const ExplainedStretch& one : stretches) {
    EXPECT_THAT(one.terms.latency, HasSubstr(" us"));
    EXPECT_THAT(one.terms.bandwidth, HasSubstr("GB/s"));
  }
}

TEST(Explain, ASettingIsComparedWithNotSettingIt) {
  ExplainQuestion question = on_two_dgx_h100("64K");
  question.job.set = {"NCCL_ALGO=Ring"};
  const Result<Explained> explained = explain(question);
  ASSERT_TRUE(explained) << explained.error().message;
  ASSERT_TRUE(explained->before);
  EXPECT_THAT(explained->now.label, HasSubstr("NCCL_ALGO=Ring"));
  const std::vector<Comparison> rows = compare(*explained->before, explained->now);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].before.algorithm, Algorithm::Tree);
  EXPECT_EQ(rows[0].after.algorithm, Algorithm::Ring);
  EXPECT_THAT(rows[0].changed, Contains("algorithm"));
}

TEST(Explain, TwoVersionsAreComparedWithEachOther) {
  ExplainQuestion question = on_two_dgx_h100("1M");
  question.nccl = {"2.19", "2.30"};
  const Result<Explained> explained = explain(question);
  ASSERT_TRUE(explained) << explained.error().message;
  EXPECT_EQ(explained->now.nccl, "2.30.7");
  ASSERT_TRUE(explained->before);
  EXPECT_EQ(explained->before->nccl, "2.19.4");
}

// 8 + 14 / 3.5 + 16 x 2.8 = 56.8 us and 288 GB/s: PAT would win at 2 MiB, but it is not named as the runner-up either.
TEST(Explain, ALastResortIsNamedAndTakesNoPartInTheVerdict) {
  ExplainQuestion question{.job = {.on = "dgx-h100", .nodes = 2},
                           .calls = {.collective = "all_gather", .sizes = "2M"},
                           .nccl = {"2.31"}};
  const Combination pat{Algorithm::Pat, Protocol::Simple};
  const Explanation now = explain(question)->now;
  EXPECT_THAT(now.available, Contains(pat));
  EXPECT_THAT(now.last_resorts, testing::ElementsAre(pat));
  const Verdict& verdict = now.sizes[0].verdict;
  ASSERT_TRUE(verdict.runner_up);
  EXPECT_NE(verdict.runner_up->algorithm, Algorithm::Pat);
  EXPECT_GE(verdict.runner_up->prediction.time_us, now.sizes[0].choice.prediction.time_us);

  question.nccl = {"2.30"};
  EXPECT_THAT(explain(question)->now.last_resorts, testing::IsEmpty());
}

TEST(Explain, RefusesInvalidQuestions) {
  EXPECT_FALSE(explain({.job = {.on = "dgx-h100"}, .calls = {}}));
  EXPECT_FALSE(explain({.job = {}, .calls = {.collective = "all_reduce"}}));
  ExplainQuestion three = on_two_dgx_h100("1M");
  three.nccl = {"2.19", "2.27", "2.30"};
  const Result<Explained> refused = explain(three);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("more than two versions"));
}

}  // namespace
}  // namespace ringside::study
