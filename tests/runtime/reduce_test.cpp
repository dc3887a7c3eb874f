#include "engine/runtime/reduce.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace ringside {
namespace {

template <typename T>
std::array<T, 3> reduced(DataType type, RedOp op, std::array<T, 3> a, std::array<T, 3> b) {
  std::array<T, 3> out{};
  const auto kernel = reduce_kernel(type, op);
  EXPECT_TRUE(kernel);
  (*kernel)(reinterpret_cast<std::byte*>(out.data()), reinterpret_cast<const std::byte*>(a.data()),
            reinterpret_cast<const std::byte*>(b.data()), 3);
  return out;
}

TEST(ReduceKernel, CombinesElementByElement) {
  EXPECT_EQ(reduced<float>(DataType::Float32, RedOp::Sum, {1, 2, 3}, {10, 20, 30}),
            (std::array<float, 3>{11, 22, 33}));
  EXPECT_EQ(reduced<double>(DataType::Float64, RedOp::Prod, {1, 2, 3}, {10, 20, 30}),
            (std::array<double, 3>{10, 40, 90}));
  EXPECT_EQ(reduced<std::int32_t>(DataType::Int32, RedOp::Max, {-1, 2, 3}, {-2, 20, 1}),
            (std::array<std::int32_t, 3>{-1, 20, 3}));
  EXPECT_EQ(reduced<std::uint64_t>(DataType::Uint64, RedOp::Min, {1, 2, 3}, {10, 1, 30}),
            (std::array<std::uint64_t, 3>{1, 1, 3}));
}

// 100 + 100 = 200 = -56 modulo 256; 200 * 2 = 400 = 144 modulo 256.
TEST(ReduceKernel, IntegersWrapAround) {
  EXPECT_EQ(reduced<std::int8_t>(DataType::Int8, RedOp::Sum, {100, 1, -1}, {100, 2, -2}),
            (std::array<std::int8_t, 3>{-56, 3, -3}));
  EXPECT_EQ(reduced<std::uint8_t>(DataType::Uint8, RedOp::Prod, {200, 1, 2}, {2, 2, 2}),
            (std::array<std::uint8_t, 3>{144, 2, 4}));
  EXPECT_EQ(reduced<std::int32_t>(DataType::Int32, RedOp::Sum, {INT32_MAX, 0, 0}, {1, 0, 0})[0],
            INT32_MIN);
}

TEST(ReduceKernel, TakesAnyAlignment) {
  std::array<std::byte, 1 + 4 * sizeof(float)> memory{};
  const std::array<float, 4> ones{1, 1, 1, 1};
  std::memcpy(memory.data() + 1, ones.data(), sizeof ones);
  const auto kernel = reduce_kernel(DataType::Float32, RedOp::Sum);
  (*kernel)(memory.data() + 1, memory.data() + 1, memory.data() + 1, 4);
  float last = 0;
  std::memcpy(&last, memory.data() + 1 + 3 * sizeof(float), sizeof last);
  EXPECT_EQ(last, 2.0F);
}

TEST(ReduceKernel, AMissingPairIsAnErrorThatNamesWhatThereIs) {
  const auto kernel = reduce_kernel(DataType::Float16, RedOp::Sum);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::Unsupported);
  EXPECT_NE(kernel.error().help.find("float"), std::string::npos);
}

}  // namespace
}  // namespace ringside
