#include "harness/probe/pairs.h"

#include <gtest/gtest.h>

#include <set>

namespace ringside::probe {
namespace {

// Each pair occurs once; in one step, no rank and no host occurs twice.
TEST(ProbeTournament, NoTwoPairsShareARankOrAHost) {
  for (const std::vector<int>& hosts : {std::vector<int>{0},
                                        {0, 0},
                                        {0, 1},
                                        {0, 1, 2},
                                        {0, 0, 1, 1, 2, 2, 3, 3},
                                        {0, 1, 0, 2, 1, 0, 4}}) {
    std::set<std::pair<int, int>> seen;
    for (const auto& step : tournament(hosts)) {
      std::set<int> busy;
      for (const auto& [a, b] : step) {
        const int x = hosts[static_cast<std::size_t>(a)], y = hosts[static_cast<std::size_t>(b)];
        EXPECT_TRUE(busy.insert(x).second);
        EXPECT_TRUE(x == y || busy.insert(y).second);
        EXPECT_TRUE(seen.emplace(a, b).second);
      }
    }
    EXPECT_EQ(seen.size(), hosts.size() * (hosts.size() - 1) / 2);
  }
}

// 8 hosts of one rank: 7 rounds of 4 pairs.
TEST(ProbeTournament, HostsAreMeasuredSideBySide) {
  EXPECT_EQ(tournament({0, 1, 2, 3, 4, 5, 6, 7}).size(), 7u);
}

PairMatrix four_hosts() {
  PairMatrix matrix{.nranks = 4, .hosts = {"h0", "h1", "h2", "h3"}};
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to)
      matrix.cells.push_back({.from = from, .to = to, .latency_us = 10, .gbs = 1});
  }
  return matrix;
}

TEST(ProbePairs, EqualPairsGiveNoFinding) {
  PairMatrix matrix = four_hosts();
  mark_outliers(matrix);
  EXPECT_TRUE(judge_pairs(matrix).empty());
}

TEST(ProbePairs, TheRankInAllSlowPairsIsNamed) {
  PairMatrix matrix = four_hosts();
  for (PairCell& cell : matrix.cells) {
    if (cell.from == 2 || cell.to == 2) cell.gbs = 0.1;
  }
  mark_outliers(matrix);
  const auto findings = judge_pairs(matrix);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "low_bandwidth");
  EXPECT_EQ(findings[0].ranks, std::vector<int>{2});
}

TEST(ProbePairs, CountsTheOthersThatOneSlowDirectionReaches) {
  PairMatrix matrix = four_hosts();
  for (PairCell& cell : matrix.cells) {
    if (cell.from == 2) cell.gbs = 0.1;
  }
  mark_outliers(matrix);
  const auto findings = judge_pairs(matrix);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].title.find("slow with 3 others"), std::string::npos) << findings[0].title;
}

// On a busy machine one message or another comes late: that does not hide whose link is slow.
TEST(ProbePairs, LateMessagesDoNotHideASlowLink) {
  PairMatrix matrix = four_hosts();
  for (PairCell& cell : matrix.cells) {
    if (cell.from == 2 || cell.to == 2) cell.gbs = 0.1;
    if (cell.from == 0 && cell.to == 3) cell.latency_us = 400;
  }
  mark_outliers(matrix);
  const auto findings = judge_pairs(matrix);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].ranks, std::vector<int>{2});
}

}  // namespace
}  // namespace ringside::probe
