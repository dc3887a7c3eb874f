#include "study/explain/upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace ringside::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

UpgradeQuestion on_h100(const char* from, const char* to, const char* collective = "all_reduce") {
  return {.job = {.on = "dgx-h100", .nodes = 2},
          .calls = {.collective = collective},
          .from = from,
          .to = to};
}

// The reported settings are correct: with them the later release chooses as the earlier one did.
TEST(Upgrade, TheSuggestedSettingRestoresTheOldChoice) {
  UpgradeQuestion question = on_h100("2.18", "2.19");
  question.calls.sizes = "128K:4M:2";
  const auto upgrade = explain_upgrade(question);
  ASSERT_TRUE(upgrade) << upgrade.error().message;
  EXPECT_EQ(upgrade->to, "2.19.4");
  EXPECT_GT(upgrade->changed_sizes, 0U);
  int checked = 0;
  for (const UpgradeStretch& stretch : upgrade->collectives.front().stretches) {
    if (!stretch.is_other_choice || stretch.undo.set.empty()) continue;
    JobOptions options = question.job;
    options.set = stretch.undo.set;
    const auto job = load_tuned_job(options, "2.19");
    ASSERT_TRUE(job) << job.error().message;
    const auto choice = job->tuner.choose({.bytes = stretch.first});
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->algorithm, stretch.before.algorithm);
    EXPECT_EQ(choice->protocol, stretch.before.protocol);
    EXPECT_EQ(stretch.undo.restores_channels, choice->max_channels == stretch.before.max_channels);
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

// 256 KiB .. 1 MiB change from Tree to NVLSTree: 2.19 prices NVLS differently (docs/lab/upgrades.md).
TEST(Upgrade, SizesWithTheSameChangeAreOneRow) {
  const auto upgrade = explain_upgrade(on_h100("2.18", "2.19"));
  ASSERT_TRUE(upgrade);
  const std::vector<UpgradeStretch>& rows = upgrade->collectives.front().stretches;
  const auto found = std::ranges::find(rows, true, &UpgradeStretch::is_other_choice);
  ASSERT_NE(found, rows.end());
  EXPECT_EQ(found->first, 256_KiB);
  EXPECT_EQ(found->last, 1_MiB);
  EXPECT_EQ(found->before.algorithm, Algorithm::Tree);
  EXPECT_EQ(found->after.algorithm, Algorithm::NvlsTree);
  EXPECT_THAT(found->undo.set, ElementsAre("NCCL_ALGO=Tree"));
  // Every size is in one row.
  EXPECT_EQ(rows.front().first, 8_B);
  EXPECT_EQ(rows.back().last, 8_GiB);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].first.value, 2 * rows[i - 1].last.value);
  }
}

// From 2.20 on rings of two nodes cross NICs at 48 GB/s; without crossing they stay as they were.
TEST(Upgrade, GraphsThatDifferAreToldWithTheVariableThatKeepsThem) {
  const auto upgrade = explain_upgrade(on_h100("2.19", "2.27"));
  ASSERT_TRUE(upgrade);
  const auto ring = std::ranges::find(upgrade->layout, "ring graph", &LayoutDifference::what);
  ASSERT_NE(ring, upgrade->layout.end());
  EXPECT_THAT(ring->before, HasSubstr("45/45"));
  EXPECT_THAT(ring->after, HasSubstr("48/48"));
  EXPECT_THAT(ring->undo.set, ElementsAre("NCCL_CROSS_NIC=0"));
}

// From 2.20 on, odd rings run against the even ones: each enters by the NIC by which the other leaves.
TEST(Upgrade, NicsOfRingsAreLaid) {
  const auto upgrade = explain_upgrade(on_h100("2.19", "2.20"));
  ASSERT_TRUE(upgrade);
  const auto nics = std::ranges::find(upgrade->layout, "NICs of rings", &LayoutDifference::what);
  ASSERT_NE(nics, upgrade->layout.end());
  EXPECT_EQ(nics->before, "0 1 2 3 4 5 6 7");
  EXPECT_EQ(nics->after, "0>1 1>0 2>3 3>2 4>5 5>4 6>7 7>6");
  EXPECT_THAT(nics->undo.set, ElementsAre("NCCL_CROSS_NIC=0"));
}

// A channel of 1.2 GB/s is no faster than PCI 3.0 x16. NCCL_NTHREADS=256 applies to trees as well.
TEST(Upgrade, ThreadsOfAnAlgorithmAreLaid) {
  UpgradeQuestion question = on_h100("2.30", "2.31");
  question.job.on = "2x-rtx-4090";
  const auto upgrade = explain_upgrade(question);
  ASSERT_TRUE(upgrade);
  ASSERT_EQ(upgrade->layout.size(), 1U);
  EXPECT_EQ(upgrade->layout[0].what, "threads of ring/simple");
  EXPECT_EQ(upgrade->layout[0].before, "256");
  EXPECT_EQ(upgrade->layout[0].after, "512");
  EXPECT_THAT(upgrade->layout[0].undo.set, testing::IsEmpty());
}

TEST(Upgrade, WithoutACollectiveAreAllThatAreTuned) {
  const auto upgrade = explain_upgrade(on_h100("2.29", "2.30", ""));
  ASSERT_TRUE(upgrade);
  EXPECT_EQ(upgrade->collectives.size(), 5U);
  EXPECT_EQ(upgrade->sizes, 5U * 31U);
}

TEST(Upgrade, OneReleaseTwiceAndUnknownOnesAreErrors) {
  EXPECT_FALSE(explain_upgrade(on_h100("2.27", "2.27")));
  EXPECT_FALSE(explain_upgrade(on_h100("2.27", "2.99")));
  EXPECT_FALSE(explain_upgrade({.job = {}, .from = "2.19", .to = "2.27"}));
}

// The page shows the changes without settings: this process's variables are ignored.
TEST(Upgrade, RowsOfThePageUseNoSettings) {
  ::setenv("NCCL_ALGO", "Ring", 1);
  const auto rows = upgrade_rows({"2.18", "2.19"}, "one-gpu-one-nic");
  const auto of_blackwell = upgrade_rows({"2.18", "2.19"}, "dgx-b200");
  ::unsetenv("NCCL_ALGO");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 3U);  // 1, 2, 4 nodes
  const auto& stretches = (*rows)[1].upgrade.collectives.front().stretches;
  EXPECT_TRUE(std::ranges::any_of(stretches, [](const UpgradeStretch& stretch) {
    return stretch.before.algorithm == Algorithm::Tree;
  }));
  ASSERT_TRUE(of_blackwell);
  EXPECT_TRUE(of_blackwell->empty()) << "2.18 does not know it";
}

}  // namespace
}  // namespace ringside::study
