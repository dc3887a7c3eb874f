#include "study/explain/decisions.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ringside::study {
namespace {

// The page shows NCCL's choices without settings: this process's variables are ignored.
TEST(Decisions, ARowIsTheDefaultChoice) {
  ::setenv("NCCL_ALGO", "Ring", 1);
  const Result<std::vector<DecisionRow>> rows = decisions("dgx-h100");
  ::unsetenv("NCCL_ALGO");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 4U);  // 1, 2, 4, 16 nodes
  const DecisionRow& two = (*rows)[1];
  EXPECT_EQ(two.preset, "dgx-h100");
  EXPECT_EQ(two.nodes, 2);
  EXPECT_EQ(two.shape.nranks, 16);
  ASSERT_EQ(two.choices.size(), decision_sizes().size());
  EXPECT_EQ(two.choices[0].algorithm, Algorithm::Tree);
  EXPECT_EQ(two.choices[0].protocol, Protocol::LL);
  EXPECT_NEAR(two.choices[0].prediction.time_us, 25.27, 0.005);
}

TEST(Decisions, AnUnknownSourceIsAnError) { EXPECT_FALSE(decisions("no-such-preset")); }

}  // namespace
}  // namespace ringside::study
