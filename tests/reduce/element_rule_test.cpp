#include "engine/reduce/element_rule.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/reduce/element.h"
#include "tests/reduce/reference.h"

namespace ringside {
namespace {

using reference::kTypes;

constexpr std::array kPlainOps{RedOp::Sum, RedOp::Prod, RedOp::Max, RedOp::Min};

ElementBits combined(DataType type, RedOp op, ElementBits a, ElementBits b) {
  ElementBits result = 0;
  with_element_rule(type, [&](auto rule) {
    using Rule = decltype(rule);
    using Bits = typename Rule::Bits;
    const auto x = static_cast<Bits>(a);
    const auto y = static_cast<Bits>(b);
    result = op == RedOp::Prod  ? Rule::prod(x, y)
             : op == RedOp::Max ? Rule::max(x, y)
             : op == RedOp::Min ? Rule::min(x, y)
                                : Rule::sum(x, y);
  });
  return result;
}

std::string wrong(DataType type, RedOp op, ElementBits a, ElementBits b) {
  const ElementBits actual = combined(type, op, a, b);
  const ElementBits expected = reference::combine(type, op, a, b);
  if (reference::agrees(type, op, actual, expected)) return "";
  return testing::PrintToString(a) + " and " + testing::PrintToString(b);
}

// All pairs of 8 bits, and drawn ones of the others, where every third has an end of the range on one side.
TEST(ElementRule, GivesTheReferencesBits) {
  std::mt19937_64 random(1);
  for (const DataType type : kTypes) {
    const std::size_t bits = 8 * size_of(type).value;
    const ElementBits mask = bits == 64 ? ~ElementBits{0} : (ElementBits{1} << bits) - 1;
    const ElementBits sign = ElementBits{1} << (bits - 1);
    const ElementBits ends[] = {0, sign, mask, sign - 1, 1, sign | 1, sign - 2};
    for (const RedOp op : kPlainOps) {
      for (unsigned i = 0; i < 65536; ++i) {
        ElementBits a = random() & mask;
        const ElementBits b = bits == 8 ? i >> 8 : random() & mask;
        if (bits == 8) a = i & 0xFF;
        if (bits != 8 && i % 3 == 0) a = ends[random() % std::size(ends)] & mask;
        ASSERT_EQ(wrong(type, op, a, b), "") << to_string(type) << " " << to_string(op);
      }
    }
  }
}

TEST(ElementRule, DividesTowardsZeroInTheType) {
  EXPECT_EQ(divide_element(std::int8_t{-7}, 2), -3);
  EXPECT_EQ(divide_element(std::int8_t{100}, 200), 0);
  EXPECT_EQ(divide_element(std::uint64_t{1} << 63, 2), std::uint64_t{1} << 62);
}

}  // namespace
}  // namespace ringside
