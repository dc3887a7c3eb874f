#include "engine/reduce/reduce_op.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "engine/reduce/copy.h"
#include "engine/reduce/small_float.h"

namespace ringside {
namespace {

/// One element through a collective among as many ranks as there are values: the own value of rank 0
/// first, then the partial result with each rank's own.
double reduced(DataType type, RedOp op, const std::vector<double>& values,
               std::optional<double> scalar = {}) {
  std::optional<ElementBits> factor;
  if (scalar) factor = to_element(type, *scalar);
  const auto made = make_reduce_op(type, op, static_cast<int>(values.size()), factor);
  EXPECT_TRUE(made);
  std::array<std::byte, 8> result{};
  std::array<std::byte, 8> own{};
  const std::array outputs{result.data()};
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    store_element(type, to_element(type, values[rank]), own.data());
    if (rank == 0) {
      made->reduce(outputs, std::array<const std::byte*, 1>{own.data()}, FirstInput::Own, 1);
    } else {
      made->combine(result.data(), own.data(), result.data(), FirstInput::Own, 1);
    }
  }
  made->finish(result.data(), 1);
  return from_element(type, load_element(type, result.data()));
}

TEST(ReduceOp, SumsProductsAndExtremesOfEveryType) {
  for (int i = 0; i < 12; ++i) {
    const auto type = static_cast<DataType>(i);
    SCOPED_TRACE(to_string(type));
    EXPECT_EQ(reduced(type, RedOp::Sum, {1, 2, 4}), 7);
    EXPECT_EQ(reduced(type, RedOp::Prod, {1, 2, 4}), 8);
    EXPECT_EQ(reduced(type, RedOp::Min, {3, 2, 4}), 2);
    EXPECT_EQ(reduced(type, RedOp::Max, {3, 2, 4}), 4);
    EXPECT_EQ(reduced(type, RedOp::Avg, {2, 4, 4, 6}), 4);
    EXPECT_EQ(reduced(type, RedOp::PreMulSum, {1, 2, 1}, 2), 8);
  }
}

// 100 + 100 = 200 = -56 modulo 256, and 200 * 2 = 400 = 144 modulo 256.
TEST(ReduceOp, IntegersWrapAround) {
  EXPECT_EQ(reduced(DataType::Int8, RedOp::Sum, {100, 100}), -56);
  EXPECT_EQ(reduced(DataType::Uint8, RedOp::Prod, {200, 2}), 144);
  EXPECT_EQ(reduced(DataType::Int32, RedOp::Sum, {2147483647, 1}), -2147483648.0);
}

// -7 / 2 = -3.5 -> -3. With int8 the sum wraps before it is divided: 100 + 100 -> -56, / 2 = -28.
TEST(ReduceOp, AnIntegersAverageIsTheSumDividedOnceTowardsZero) {
  EXPECT_EQ(reduced(DataType::Int32, RedOp::Avg, {-3, -4}), -3);
  EXPECT_EQ(reduced(DataType::Uint64, RedOp::Avg, {3, 4, 4}), 3);
  EXPECT_EQ(reduced(DataType::Int8, RedOp::Avg, {100, 100}), -28);
  EXPECT_EQ(reduced(DataType::Uint8, RedOp::Avg, {200, 100}), 22);  // 300 - 256 = 44
}

// 200 ranks do not fit an int8: 199 ones and a 3 are 202, which wraps to -54; -54 / 200 = 0.
TEST(ReduceOp, AnAverageOverMoreRanksThanTheTypeHoldsDividesByTheirNumber) {
  std::vector<double> values(200, 1);
  values.back() = 3;
  EXPECT_EQ(reduced(DataType::Int8, RedOp::Avg, values), 0);
  EXPECT_EQ(reduced(DataType::Uint8, RedOp::Avg, values), 1);
}

// 60000 is half's; 60000 + 60000 is not, 60000 / 2 + 60000 / 2 is.
TEST(ReduceOp, AFloatsAverageScalesBeforeItAdds) {
  EXPECT_EQ(reduced(DataType::Float16, RedOp::Avg, {60000, 60000}), 60000);
  EXPECT_EQ(reduced(DataType::Float16, RedOp::Sum, {60000, 60000}), HUGE_VAL);
  // 1/3 in float32, three times: the factor is rounded first.
  const float third = 1.0F / 3;
  EXPECT_EQ(reduced(DataType::Float32, RedOp::Avg, {7, 7, 7}), 7 * third + 7 * third + 7 * third);
}

// Half has 11 bits: 2048 + 1 is a tie and goes to the even 2048, twice; 2 + 2048 is 2050.
TEST(ReduceOp, EachAdditionOfAHalfIsRoundedToAHalf) {
  EXPECT_EQ(reduced(DataType::Float16, RedOp::Sum, {2048, 1, 1}), 2048);
  EXPECT_EQ(reduced(DataType::Float16, RedOp::Sum, {1, 1, 2048}), 2050);
  EXPECT_EQ(reduced(DataType::Bfloat16, RedOp::Sum, {256, 1, 1}), 256);
}

TEST(ReduceOp, ANotANumberSpreadsThroughSumsAndGivesWayInMinAndMax) {
  for (const DataType type : {DataType::Float16, DataType::Float32, DataType::Float64,
                              DataType::Bfloat16, DataType::Float8E4m3, DataType::Float8E5m2}) {
    SCOPED_TRACE(to_string(type));
    EXPECT_TRUE(std::isnan(reduced(type, RedOp::Sum, {1, NAN, 2})));
    EXPECT_EQ(reduced(type, RedOp::Min, {1, NAN, 2}), 1);
    EXPECT_EQ(reduced(type, RedOp::Max, {NAN, 1, 2}), 2);
    EXPECT_TRUE(std::isnan(reduced(type, RedOp::Max, {NAN, NAN})));
    EXPECT_TRUE(std::signbit(reduced(type, RedOp::Min, {0.0, -0.0})));
    EXPECT_FALSE(std::signbit(reduced(type, RedOp::Max, {-0.0, 0.0})));
  }
}

TEST(ReduceOp, APartialResultIsNotScaledAgain) {
  const auto average = make_reduce_op(DataType::Float32, RedOp::Avg, 2);
  ASSERT_TRUE(average);
  EXPECT_TRUE(average->has_pre_operation());
  EXPECT_FALSE(average->has_post_operation());
  const float a = 6;
  const float b = 8;
  float out = 0;
  const auto combine = [&](FirstInput first) {
    average->combine(reinterpret_cast<std::byte*>(&out), reinterpret_cast<const std::byte*>(&a),
                     reinterpret_cast<const std::byte*>(&b), first, 1);
    return out;
  };
  EXPECT_EQ(combine(FirstInput::Own), 11);      // 6 / 2 + 8
  EXPECT_EQ(combine(FirstInput::Partial), 14);  // 6 + 8
}

TEST(ReduceOp, AScalarBelongsToMulsumAlone) {
  const auto without = make_reduce_op(DataType::Float32, RedOp::PreMulSum, 2);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().message, "mulsum needs a scalar");
  const auto with = make_reduce_op(DataType::Float32, RedOp::Sum, 2, ElementBits{1});
  ASSERT_FALSE(with);
  EXPECT_EQ(with.error().message, "sum takes no scalar");
}

TEST(CheckReduction, RefusesWhatNcclRefuses) {
  using enum Algorithm;
  const auto is_there = [](Collective collective, Algorithm algorithm, DataType type, RedOp op) {
    return check_reduction(collective, algorithm, type, op).has_value();
  };
  EXPECT_TRUE(is_there(Collective::AllReduce, Ring, DataType::Float8E4m3, RedOp::Avg));
  EXPECT_TRUE(is_there(Collective::AllReduce, Nvls, DataType::Bfloat16, RedOp::Max));
  EXPECT_TRUE(is_there(Collective::AllReduce, Nvls, DataType::Float32, RedOp::Sum));
  EXPECT_FALSE(is_there(Collective::AllReduce, Nvls, DataType::Float32, RedOp::Max));
  EXPECT_FALSE(is_there(Collective::AllReduce, NvlsTree, DataType::Int32, RedOp::Avg));
  EXPECT_FALSE(is_there(Collective::AllReduce, NvlsTree, DataType::Int8, RedOp::Sum));
  EXPECT_TRUE(is_there(Collective::AllGather, Nvls, DataType::Int8, RedOp::Sum));
  EXPECT_FALSE(is_there(Collective::ReduceScatter, Pat, DataType::Float32, RedOp::Avg));
  EXPECT_TRUE(is_there(Collective::ReduceScatter, Pat, DataType::Float32, RedOp::Prod));
  EXPECT_EQ(check_reduction(Collective::ReduceScatter, Pat, DataType::Float32, RedOp::Avg)
                .error()
                .message,
            "NCCL's PAT has no avg of float");
}

TEST(CopyStreaming, CopiesAnyCountToAnyAddress) {
  std::vector<std::byte> from(1500);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t bytes = 0; bytes < 700; bytes += 1 + bytes / 9) {
    for (std::size_t shift = 0; shift < 64; shift += 7) {
      std::vector<std::byte> to(1500, std::byte{0});
      copy_streaming(to.data() + shift, from.data() + shift / 2, bytes);
      for (std::size_t i = 0; i < to.size(); ++i) {
        const bool is_inside = i >= shift && i < shift + bytes;
        ASSERT_EQ(to[i], is_inside ? from[i - shift + shift / 2] : std::byte{0})
            << bytes << " bytes at " << shift << ", byte " << i;
      }
    }
  }
}

}  // namespace
}  // namespace ringside
