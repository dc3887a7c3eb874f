#include "engine/reduce/small_float.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/reduce/reference.h"

namespace ringside {
namespace {

struct Format {
  DataType type;
  unsigned codes;
  float (*widen)(unsigned code);
  unsigned (*narrow)(float value);
};

const Format kFormats[] = {
    {DataType::Float16, 65536,
     [](unsigned code) { return half_to_float(static_cast<std::uint16_t>(code)); },
     [](float value) { return unsigned{float_to_half(value)}; }},
    {DataType::Bfloat16, 65536,
     [](unsigned code) { return bfloat16_to_float(static_cast<std::uint16_t>(code)); },
     [](float value) { return unsigned{float_to_bfloat16(value)}; }},
    {DataType::Float8E4m3, 256,
     [](unsigned code) { return e4m3_to_float(static_cast<std::uint8_t>(code)); },
     [](float value) { return unsigned{float_to_e4m3(value)}; }},
    {DataType::Float8E5m2, 256,
     [](unsigned code) { return e5m2_to_float(static_cast<std::uint8_t>(code)); },
     [](float value) { return unsigned{float_to_e5m2(value)}; }},
};

TEST(SmallFloat, EveryCodeHasItsValueAndComesBack) {
  for (const Format& format : kFormats) {
    int wrong = 0;
    for (unsigned code = 0; code < format.codes; ++code) {
      const double expected = reference::decode(format.type, code);
      const float value = format.widen(code);
      if (std::isnan(expected)) {
        wrong += std::isnan(value) && format.narrow(value) == format.codes / 2 - 1 ? 0 : 1;
      } else {
        const bool is_right =
            static_cast<double>(value) == expected && std::signbit(value) == std::signbit(expected);
        wrong += is_right && format.narrow(value) == code ? 0 : 1;
      }
    }
    EXPECT_EQ(wrong, 0) << to_string(format.type);
  }
}

// Between each value and the next: the middle goes to the even one, the floats next to it to the nearer.
TEST(SmallFloat, EveryRoundingIsToTheNearestAndTiesGoToEven) {
  for (const Format& format : kFormats) {
    int wrong = 0;
    const auto last = static_cast<unsigned>(reference::finite_codes(format.type)) - 1;
    for (unsigned code = 0; code < last; ++code) {
      const double below = reference::decode(format.type, code);
      const double above = reference::decode(format.type, code + 1);
      const auto middle = static_cast<float>((below + above) / 2);
      if (static_cast<double>(middle) * 2 != below + above)
        continue;  // bfloat16's least: no such float
      const unsigned sign = format.codes / 2;
      wrong += format.narrow(middle) == code + code % 2 ? 0 : 1;
      wrong += format.narrow(-middle) == (sign | (code + code % 2)) ? 0 : 1;
      wrong += format.narrow(std::nextafterf(middle, 0)) == code ? 0 : 1;
      wrong += format.narrow(std::nextafterf(middle, HUGE_VALF)) == code + 1 ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0) << to_string(format.type);
  }
}

// Half a step beyond the largest rounds to the next power of two, which is infinity: 65504 + 16 = 65520,
// 57344 + 4096 = 61440.
TEST(SmallFloat, BeyondTheLargestIsInfinity) {
  EXPECT_EQ(float_to_half(65519.996F), 0x7BFF);
  EXPECT_EQ(float_to_half(65520.0F), 0x7C00);
  EXPECT_EQ(float_to_half(-1e30F), 0xFC00);
  EXPECT_EQ(float_to_half(HUGE_VALF), 0x7C00);
  EXPECT_EQ(float_to_e5m2(61439.99F), 0x7B);
  EXPECT_EQ(float_to_e5m2(61440.0F), 0x7C);
  EXPECT_EQ(float_to_e5m2(-HUGE_VALF), 0xFC);
  EXPECT_EQ(float_to_bfloat16(3.3895314e38F), 0x7F7F);
  EXPECT_EQ(float_to_bfloat16(3.4028235e38F), 0x7F80);
}

TEST(SmallFloat, E4m3StaysAtItsLargest) {
  EXPECT_EQ(e4m3_to_float(0x7E), 448.0F);
  for (const float value : {448.0F, 464.0F, 465.0F, 1e9F, HUGE_VALF}) {
    EXPECT_EQ(float_to_e4m3(value), 0x7E) << value;
    EXPECT_EQ(float_to_e4m3(-value), 0xFE) << value;
  }
}

TEST(SmallFloat, NotANumberIsOnePatternAFormat) {
  EXPECT_EQ(float_to_half(-NAN), 0x7FFF);
  EXPECT_EQ(float_to_bfloat16(-NAN), 0x7FFF);
  EXPECT_EQ(float_to_e4m3(-NAN), 0x7F);
  EXPECT_EQ(float_to_e5m2(-NAN), 0x7F);
}

}  // namespace
}  // namespace ringside
