#include "diag/logparse/rank_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ringside::logs {
namespace {

using testing::ElementsAre;

std::vector<std::string> rows(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::vector<std::string> found;
  for (std::string& row : rank_rows(lines)) {
    if (!row.empty()) found.push_back(std::move(row));
  }
  return found;
}

TEST(RankTables, RowsBecomeLinesOfTheirRank) {
  EXPECT_THAT(rows("| rank | where |\n|---|---|\n| 0 | `all_reduce (a.py:1)` |\n| 1-3 | `read "
                   "(b.py:2)` |\nSo\n"),
              ElementsAre("rank 0: all_reduce (a.py:1)", "ranks 1-3: read (b.py:2)"));
  EXPECT_THAT(rows("| host | Rank | SeqNum |\n|:--|--|--|\n| n1 | 0 | 812 |\n| n2 | 1 | 811 |\n"),
              ElementsAre("rank 0: n1, seqnum 812", "rank 1: n2, seqnum 811"));
  EXPECT_THAT(rows("rank  seq  where\n----  ---  -----\n0     812  all_reduce\n3     811  read "
                   "(socket.py:705)\n"),
              ElementsAre("rank 0: seq 812, all_reduce", "rank 3: seq 811, read (socket.py:705)"));
}

TEST(RankTables, CellsMayRepeatTheWordInAnyCase) {
  EXPECT_THAT(rows("| Rank | State |\n|---|---|\n| Rank 0 | waits |\n| ranks 1-3 | reads |\n"),
              ElementsAre("rank 0: waits", "ranks 1-3: reads"));
}

// A single row is an ordinary line; nccl-tests and torchrun have the word elsewhere.
TEST(RankTables, OtherTablesStay) {
  EXPECT_TRUE(rows("| rank | where |\n|---|---|\n| 0 | x |\nSo\n").empty());
  EXPECT_TRUE(rows("| gpu | util |\n|---|---|\n| 0 | 100% |\n| 1 | 0% |\n").empty());
  EXPECT_TRUE(rows("#  Rank  0 Group  0 Pid 77\n#  Rank  1 Group  0 Pid 78\n").empty());
  EXPECT_TRUE(
      rows("  rank      : 9 (local_rank: 1)\n  exitcode  : 1 (pid: 7)\n  x  : 1\n").empty());
  EXPECT_TRUE(rows("rank 0 is stuck\n0 errors\n1 warning\n").empty());
}

}  // namespace
}  // namespace ringside::logs
