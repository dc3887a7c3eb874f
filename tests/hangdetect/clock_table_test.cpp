#include "diag/hangdetect/readers/clock_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace ringside::hang {
namespace {

std::vector<ClockRow> rows_of(const std::vector<std::string>& lines) {
  ClockTable table;
  std::vector<ClockRow> rows;
  for (const std::string& line : lines) {
    if (const auto row = table.take(line)) rows.push_back(*row);
  }
  return rows;
}

TEST(ClockTable, ReadsColumnsByTheirHeader) {
  const auto rows =
      rows_of({"index, clocks.sm [MHz], temperature.gpu, clocks_event_reasons.active",
               "0, 1980 MHz, 61, 0x0000000000000000", "1, 345 MHz, 62, 0x0000000000000008",
               "2, 1980 MHz, 91, 0x0000000000000001"});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].gpu, 1);
  EXPECT_EQ(rows[1].mhz, 345);
  EXPECT_FALSE(rows[0].is_throttled);
  EXPECT_TRUE(rows[1].is_throttled);
  EXPECT_TRUE(rows[2].is_throttled);  // hot; the bit of an idle GPU does not count
  EXPECT_EQ(slowed_row(rows), std::optional<std::size_t>(1));
}

TEST(ClockTable, ReasonsThatAGpuSupportsAreNotActive) {
  const auto rows = rows_of(
      {"index, clocks.sm [MHz], clocks_event_reasons.supported, clocks_event_reasons.active",
       "0, 1980 MHz, 0x00000000000001FF, 0x0000000000000000",
       "1, 345 MHz, 0x00000000000001FF, 0x0000000000000008"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_FALSE(rows[0].is_throttled);
  EXPECT_TRUE(rows[1].is_throttled);
}

TEST(ClockTable, ReadsRowsWithoutAHeaderByTheirUnits) {
  const auto rows = rows_of({"0, 1980 MHz, Not Active", "1, 345 MHz, Active",
                             "2, 1980 MHz, Not Active", "3, 70, 12", "# 4, 1980 MHz, Active"});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(slowed_row(rows), std::optional<std::size_t>(1));
}

TEST(ClockTable, ALowPowerLimitCountsInAnyOrderOfRows) {
  const std::string header = "index, clocks.sm, power.limit";
  for (const auto& lines :
       {std::vector<std::string>{header, "0, 600, 200", "1, 1980, 700", "2, 1980, 700"},
        std::vector<std::string>{header, "1, 1980, 700", "2, 1980, 700", "0, 600, 200"}}) {
    const auto rows = rows_of(lines);
    const auto slowed = slowed_row(rows);
    ASSERT_TRUE(slowed);
    EXPECT_EQ(rows[*slowed].gpu, 0);
  }
}

TEST(ClockTable, NoRowIsUnusualAmongTwoOrWhenSeveralAre) {
  const ClockRow usual{.gpu = 0, .mhz = 1980};
  const auto slow = [](int gpu) { return ClockRow{.gpu = gpu, .mhz = 345, .is_throttled = true}; };
  EXPECT_FALSE(slowed_row(std::vector{usual, slow(1)}));
  EXPECT_FALSE(slowed_row(std::vector{usual, slow(1), slow(2), ClockRow{.gpu = 3, .mhz = 1980},
                                      ClockRow{.gpu = 4, .mhz = 1980}}));
  EXPECT_FALSE(slowed_row(std::vector{usual, slow(1), usual}));  // a GPU twice: two hosts
}

}  // namespace
}  // namespace ringside::hang
