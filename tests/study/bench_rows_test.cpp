#include "study/validate/bench_rows.h"

#include <gtest/gtest.h>

namespace ringside::study {
namespace {

BenchRow row_of(Bytes bytes, double busbw_gbs) {
  BenchRow row;
  row.bytes = bytes;
  row.out_of_place.busbw = {busbw_gbs * 1e9};
  return row;
}

// The mean is (1 + 2 + 6) / 3.
TEST(BenchRows, TheMeanIsOfAllTimings) {
  std::vector<BenchRow> rows{row_of(8_B, 1), row_of(16_B, 2)};
  rows[1].in_place.emplace().busbw = {6e9};
  rows[1].in_place->wrong = 5;
  rows[0].out_of_place.wrong = 2;
  EXPECT_DOUBLE_EQ(in_gbs(mean_busbw(rows)), 3);
  EXPECT_EQ(wrong_in(rows), 7);
}

TEST(BenchRows, ASweepHasACurveInPlaceWhereItWasTimed) {
  std::vector<BenchRow> rows{row_of(8_B, 1), row_of(16_B, 2)};
  EXPECT_EQ(curves_of(rows).size(), 1U);
  rows[1].in_place.emplace();
  const std::vector<Curve> curves = curves_of(rows);
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].points.size(), 2U);
  EXPECT_TRUE(curves[1].is_secondary);
  EXPECT_EQ(curves[1].points.size(), 1U);
}

// 1 GB in 0.5 s is 2 GB/s, of which an all-reduce of 4 ranks carries 2 x 3 / 4.
TEST(BenchRows, AGridHasACurveForEachWay) {
  GridRow row;
  row.bytes = Bytes{1'000'000'000};
  row.cells = {{Algorithm::Ring, Protocol::LL, Seconds{0.5}, 0},
               {Algorithm::Tree, Protocol::LL, Seconds{0.25}, 3}};
  row.best = row.pick.emplace(1);
  BenchJob job;
  job.nranks = 4;
  const std::vector<Curve> curves = curves_of(job, {row, row});
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].name, "ring ll");
  ASSERT_EQ(curves[0].points.size(), 2U);
  EXPECT_DOUBLE_EQ(in_gbs(curves[0].points[0].busbw), 3);
  EXPECT_FALSE(curves[0].points[0].is_pick);
  EXPECT_TRUE(curves[1].points[1].is_pick);
  EXPECT_EQ(wrong_in(std::vector{row, row}), 6);
  EXPECT_EQ(good_picks({row}), 1U);
}

TEST(BenchRows, ColumnsDependOnTheCollective) {
  BenchOptions bench;
  bench.collective = Collective::Broadcast;
  bench.op = RedOp::Max;
  bench.root = Rank{2};
  EXPECT_STREQ(redop_column(bench), "none");
  EXPECT_EQ(root_column(bench), 2);
  bench.collective = Collective::AllReduce;
  EXPECT_STREQ(redop_column(bench), "max");
  EXPECT_EQ(root_column(bench), -1);
}

}  // namespace
}  // namespace ringside::study
