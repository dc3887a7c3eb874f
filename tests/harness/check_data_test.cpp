#include "harness/check_data.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/runtime/reduce.h"

namespace ringside {
namespace {

constexpr std::int64_t kCount = 1000;

std::vector<std::byte> filled(const CheckData& data, DataType type, int rank,
                              std::int64_t first = 0) {
  std::vector<std::byte> buffer(kCount * size_of(type).value);
  data.fill(buffer.data(), kCount, rank, first);
  return buffer;
}

TEST(CheckData, ReductionsOfAllRanksComeOutExactlyForEveryTypeAndOperation) {
  constexpr int kRanks = 5;
  for (const DataType type :
       {DataType::Int8, DataType::Uint8, DataType::Int32, DataType::Uint32, DataType::Int64,
        DataType::Uint64, DataType::Float32, DataType::Float64}) {
    for (const RedOp op : {RedOp::Sum, RedOp::Prod, RedOp::Max, RedOp::Min}) {
      const CheckData data(type, op, 7);
      std::vector<std::byte> sum = filled(data, type, kRanks - 1);
      for (int rank = 0; rank < kRanks - 1; ++rank) {  // another order than the check's
        (*reduce_kernel(type, op))(sum.data(), filled(data, type, rank).data(), sum.data(), kCount);
      }
      EXPECT_EQ(data.count_wrong_reduced(sum.data(), kCount, kRanks, 0), 0)
          << to_string(type) << " " << to_string(op);
    }
  }
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

TEST(CheckData, TypesWithoutAHostKernelAreRefusedFirst) {
  EXPECT_FALSE(CheckData(DataType::Float16, RedOp::Sum, 0).check_supported());
  EXPECT_TRUE(CheckData(DataType::Float32, RedOp::Sum, 0).check_supported());
}

}  // namespace
}  // namespace ringside
