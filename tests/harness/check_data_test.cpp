#include "harness/check_data.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/reduce/reduce_op.h"

namespace ringside {
namespace {

constexpr std::int64_t kCount = 1000;
constexpr std::array kOps{RedOp::Sum, RedOp::Prod, RedOp::Max,
                          RedOp::Min, RedOp::Avg,  RedOp::PreMulSum};

std::vector<std::byte> filled(const CheckData& data, DataType type, int rank,
                              std::int64_t first = 0) {
  std::vector<std::byte> buffer(kCount * size_of(type).value);
  data.fill(buffer.data(), kCount, rank, first);
  return buffer;
}

/// Reduces over nranks from the last rank to the first, which is another order than the check's.
std::vector<std::byte> reduced(const CheckData& data, DataType type, RedOp op, int nranks) {
  std::vector<std::byte> result(kCount * size_of(type).value);
  const std::array outputs{result.data()};
  for (int rank = nranks - 1; rank >= 0; --rank) {
    const ReduceOp step = *make_reduce_op(type, op, nranks, data.scalar_of(rank));
    const std::vector<std::byte> own = filled(data, type, rank);
    const std::array<const std::byte*, 2> inputs{own.data(), result.data()};
    step.reduce(outputs, std::span(inputs.data(), rank == nranks - 1 ? 1 : 2), FirstInput::Own,
                kCount);
    if (rank == 0) step.finish(result.data(), kCount);
  }
  return result;
}

// 4 ranks and a power of two; 5, where 1 / n is rounded; 100, where half's sums still fit and those of
// bfloat16 and 8 bits have long been rounded.
TEST(CheckData, ReductionsOfAllRanksAreRightForEveryTypeAndOperation) {
  for (const int nranks : {1, 4, 5, 100}) {
    for (int i = 0; i < 12; ++i) {
      const auto type = static_cast<DataType>(i);
      for (const RedOp op : kOps) {
        const CheckData data(type, op, 7);
        const std::vector<std::byte> result = reduced(data, type, op, nranks);
        EXPECT_EQ(data.count_wrong_reduced(result.data(), kCount, nranks, 0), 0)
            << to_string(type) << " " << to_string(op) << " of " << nranks;
      }
    }
  }
}

// One rank of 4 missing shows wherever its contribution was not 0, or 1 of a product. With 4 ranks all is
// exact; where 8 bits are rounded, the tolerance is wider than what one rank gives.
TEST(CheckData, AMissingRankShowsForEveryTypeAndOperation) {
  for (int i = 0; i < 12; ++i) {
    const auto type = static_cast<DataType>(i);
    for (const RedOp op : {RedOp::Sum, RedOp::Prod, RedOp::Avg, RedOp::PreMulSum}) {
      const CheckData data(type, op, 7);
      const std::vector<std::byte> result = reduced(data, type, op, 3);
      EXPECT_GT(data.count_wrong_reduced(result.data(), kCount, 4, 0), kCount / 4)
          << to_string(type) << " " << to_string(op);
    }
  }
}

// 1 / 3 is rounded, so 3 ranks' average may be off by 3 units in the last place: of 1 in half, 3 * 2^-10.
TEST(CheckData, AllowsOneUnitOfTheLastPlacePerRankForRoundedData) {
  const CheckData data(DataType::Float16, RedOp::Avg, 7);
  std::vector<std::byte> result = reduced(data, DataType::Float16, RedOp::Avg, 3);
  const auto move_by = [&](ElementBits units) {
    for (std::size_t i = 0; i < kCount; ++i) {
      std::byte* at = result.data() + 2 * i;
      const ElementBits bits = load_element(DataType::Float16, at);
      if (bits != 0) store_element(DataType::Float16, bits + units, at);
    }
    return data.count_wrong_reduced(result.data(), kCount, 3, 0);
  };
  EXPECT_EQ(move_by(1), 0);
  EXPECT_GT(move_by(6), kCount / 2);
}

TEST(CheckData, OneWrongElementCountsAsOne) {
  const CheckData data(DataType::Float32, RedOp::Sum, 1);
  std::vector<std::byte> buffer = filled(data, DataType::Float32, 3, 40);
  EXPECT_EQ(data.count_wrong_copied(buffer.data(), kCount, 3, 40), 0);
  buffer[4 * 123] ^= std::byte{1};
  EXPECT_EQ(data.count_wrong_copied(buffer.data(), kCount, 3, 40), 1);
}

// 8 classes: about 7 of 8 elements of a shifted buffer differ.
TEST(CheckData, DataAtAnotherPlaceOrOfAnotherRankIsWrong) {
  const CheckData data(DataType::Int32, RedOp::Sum, 1);
  const std::vector<std::byte> buffer = filled(data, DataType::Int32, 3);
  EXPECT_GT(data.count_wrong_copied(buffer.data(), kCount, 3, 256), kCount / 2);
  EXPECT_EQ(data.count_wrong_copied(buffer.data(), kCount, 4, 0), kCount);
}

TEST(CheckData, OnlyAMulsumHasAFactor) {
  EXPECT_FALSE(CheckData(DataType::Float32, RedOp::Sum, 0).scalar_of(1));
  const CheckData data(DataType::Bfloat16, RedOp::PreMulSum, 0);
  EXPECT_EQ(from_element(DataType::Bfloat16, *data.scalar_of(0)), 1);
  EXPECT_EQ(from_element(DataType::Bfloat16, *data.scalar_of(1)), 2);
}

}  // namespace
}  // namespace ringside
