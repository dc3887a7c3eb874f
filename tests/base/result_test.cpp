#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace ringside {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{ErrorCode::InvalidArgument, "odd"};
  return n / 2;
}

Result<int> quarter(int n) {
  RINGSIDE_TRY(const int once, half(n));
  RINGSIDE_TRY(const int twice, half(once));
  return twice;
}

Status only_even(int n) {
  RINGSIDE_TRY(half(n));
  return {};
}

TEST(Result, TryHandsTheValueOnOrReturnsTheError) {
  ASSERT_TRUE(quarter(12));
  EXPECT_EQ(*quarter(12), 3);
  ASSERT_FALSE(quarter(6));  // 6 / 2 = 3 is odd
  EXPECT_EQ(quarter(6).error().message, "odd");
}

TEST(Result, TryTakesAStatusWithoutADeclaration) {
  EXPECT_TRUE(only_even(4));
  EXPECT_FALSE(only_even(3));
}

TEST(Result, HoldsWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> held = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = *std::move(held);
  EXPECT_EQ(*taken, 7);
}

TEST(ResultDeathTest, ReadingTheAbsentSideEndsTheProcess) {
  const Result<int> failed = half(1);
  EXPECT_DEATH(static_cast<void>(failed.value()), "holds an error: odd");
}

TEST(ErrorCode, BadInputExitsWithTwoAndRunTimeFailuresWithThree) {
  EXPECT_EQ(exit_status(ErrorCode::InvalidArgument), 2);
  EXPECT_EQ(exit_status(ErrorCode::Corrupt), 2);
  EXPECT_EQ(exit_status(ErrorCode::NotFound), 2);
  EXPECT_EQ(exit_status(ErrorCode::Timeout), 3);
  EXPECT_EQ(exit_status(ErrorCode::PeerGone), 3);
}

}  // namespace
}  // namespace ringside
