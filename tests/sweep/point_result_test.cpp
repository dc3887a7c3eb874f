#include "harness/sweep/point_result.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(PointResult, SurvivesWritingAndReading) {
  PointResult result{.end = PointResult::End::Hang,
                     .reason = "ranks 3 and \"5\"\n\xff wait",
                     .step = Seconds{1.25},
                     .compute = Seconds{0.5},
                     .exposed = Seconds{0.1},
                     .call_error_percent = 9.7,
                     .ranks = 16,
                     .hosts = 2,
                     .tokens = 1e6,
                     .memory = 62.5e9,
                     .limit = "all_reduce"};
  const auto back = parse_point_result(to_json(result));
  ASSERT_TRUE(back) << back.error().message;
  result.reason = "ranks 3 and \"5\"\n\xef\xbf\xbd wait";  // not UTF-8: replaced
  EXPECT_EQ(*back, result);
  EXPECT_DOUBLE_EQ(back->idle().count(), 0.65);
}

TEST(PointResult, AnotherTextIsRefused) {
  for (const char* const text : {"", "{}", "[1]", R"({"outcome":"finished"})",
                                 R"({"outcome":"later","reason":""})", "\xff"}) {
    const auto result = parse_point_result(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::Corrupt);
  }
}

}  // namespace
}  // namespace ringside
