#include "harness/bench_call.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(BenchCall, AGatheredBlockIsAtItsRanksIndex) {
  const BenchCall call(Collective::AllGather, 1000, 2, 3, Rank{0});  // 333 each
  EXPECT_EQ(call.inputs(), 333);
  EXPECT_EQ(call.outputs(), 999);
  EXPECT_EQ(call.input_at(), 666);
  EXPECT_TRUE(call.has_in_place());
}

// 4 ranks of 10 elements each: 5, 15, 5, 15
TEST(BenchCall, BlocksOfAnAllGatherVDiffer) {
  const BenchCall call(Collective::AllGatherV, 40, 3, 4, Rank{0});
  EXPECT_EQ(call.call().counts, (std::vector<std::int64_t>{5, 15, 5, 15}));
  EXPECT_EQ(call.inputs(), 15);
  EXPECT_EQ(call.outputs(), 40);
  EXPECT_EQ(call.input_at(), 25);
}

TEST(BenchCall, OnlyTheRootHasTheGatheredData) {
  EXPECT_EQ(BenchCall(Collective::Gather, 40, 1, 4, Rank{1}).outputs(), 40);
  EXPECT_EQ(BenchCall(Collective::Gather, 40, 2, 4, Rank{1}).outputs(), 0);
  EXPECT_EQ(BenchCall(Collective::Scatter, 40, 2, 4, Rank{1}).inputs(), 0);
  EXPECT_FALSE(BenchCall(Collective::Scatter, 40, 2, 4, Rank{1}).has_in_place());
}

// Rank 1 of 2 gets block 1 of rank 0's input: places 4 .. 7 of it, not 0 .. 3.
TEST(BenchCall, ABlockFromTheWrongPlaceIsCounted) {
  const CheckData data(DataType::Int32, RedOp::Sum, 7);
  const BenchCall sender(Collective::AllToAll, 8, 0, 2, Rank{0});
  const BenchCall receiver(Collective::AllToAll, 8, 1, 2, Rank{0});
  std::array<std::int32_t, 8> from_0{};
  std::array<std::int32_t, 8> from_1{};
  sender.fill(data, reinterpret_cast<std::byte*>(from_0.data()));
  receiver.fill(data, reinterpret_cast<std::byte*>(from_1.data()));
  std::array<std::int32_t, 8> got{};
  std::copy_n(from_0.begin() + 4, 4, got.begin());
  std::copy_n(from_1.begin() + 4, 4, got.begin() + 4);
  const auto wrong = [&] {
    return receiver.count_wrong(data, reinterpret_cast<const std::byte*>(got.data()), 4_B);
  };
  EXPECT_EQ(wrong(), 0);
  std::copy_n(from_0.begin(), 4, got.begin());
  EXPECT_GT(wrong(), 0);
}

}  // namespace
}  // namespace ringside
