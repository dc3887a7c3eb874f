#pragma once

#include <cstdint>

#include "base/words.h"
#include "engine/reduce/small_float_rule.h"

/// The reductions on one element at a time, for GPUs. The vector loops for hosts (kernels.cpp) give the same bits;
/// tests/reduce/element_rule_test.cpp compares them.
namespace ringside {

namespace element_rule {

/// Returns the smaller or larger of two floating-point values, given as bits, as pick_number() in kernels.cpp.
/// kTop   bits of the largest magnitude that is not a NaN
template <bool kLarger, typename Int, Int kTop>
RINGSIDE_HD constexpr Int pick_number(Int x, Int y) {
  constexpr int kSign = static_cast<int>(sizeof(Int)) * 8 - 1;
  constexpr auto kMagnitude = static_cast<Int>(~(static_cast<Int>(Int{1} << (kSign - 1)) << 1));
  // A number wins over a NaN; of two NaN the result is the one whose bits below the sign are all set.
  const bool x_is_nan = (x & kMagnitude) > kTop;
  const bool y_is_nan = (y & kMagnitude) > kTop;
  if (x_is_nan) return y_is_nan ? kMagnitude : y;
  if (y_is_nan) return x;
  const auto x_key = static_cast<Int>(x ^ ((x >> kSign) & kMagnitude));
  const auto y_key = static_cast<Int>(y ^ ((y >> kSign) & kMagnitude));
  return (x_key < y_key) != kLarger ? x : y;
}

template <typename Unsigned, typename Signed>
struct IntegerRule {
  using Bits = Unsigned;
  using Value = Signed;  ///< type for comparisons and division
  RINGSIDE_HD static constexpr Bits sum(Bits a, Bits b) { return static_cast<Bits>(a + b); }
  RINGSIDE_HD static constexpr Bits prod(Bits a, Bits b) { return static_cast<Bits>(a * b); }
  RINGSIDE_HD static constexpr Bits min(Bits a, Bits b) {
    return static_cast<Value>(b) < static_cast<Value>(a) ? b : a;
  }
  RINGSIDE_HD static constexpr Bits max(Bits a, Bits b) {
    return static_cast<Value>(a) < static_cast<Value>(b) ? b : a;
  }
};

template <typename Float, typename Unsigned, typename Signed, Signed kTop>
struct FloatRule {
  using Bits = Unsigned;
  RINGSIDE_HD static constexpr Bits sum(Bits a, Bits b) {
    return small_float_rule::bits_as<Bits>(small_float_rule::bits_as<Float>(a) +
                                           small_float_rule::bits_as<Float>(b));
  }
  RINGSIDE_HD static constexpr Bits prod(Bits a, Bits b) {
    return small_float_rule::bits_as<Bits>(small_float_rule::bits_as<Float>(a) *
                                           small_float_rule::bits_as<Float>(b));
  }
  RINGSIDE_HD static constexpr Bits min(Bits a, Bits b) {
    return static_cast<Bits>(
        pick_number<false, Signed, kTop>(static_cast<Signed>(a), static_cast<Signed>(b)));
  }
  RINGSIDE_HD static constexpr Bits max(Bits a, Bits b) {
    return static_cast<Bits>(
        pick_number<true, Signed, kTop>(static_cast<Signed>(a), static_cast<Signed>(b)));
  }
};

/// float16. kTop: the largest magnitude that is no NaN, as bits.
struct HalfFormat {
  using Bits = std::uint16_t;
  using Signed = std::int16_t;
  static constexpr Signed kTop = 0x7C00;
#ifdef __CUDA_ARCH__
  // One instruction per conversion, which rounds in the same way and converts NaN to 0x7FFF (PTX ISA 9.0, cvt).
  __device__ static float widen(Bits code) {
    float value = 0;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(code));
    return value;
  }
  __device__ static Bits narrow(float value) {
    Bits code = 0;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(code) : "f"(value));
    return code;
  }
#else
  RINGSIDE_HD static float widen(Bits code) {
    return small_float_rule::widen(small_float_rule::half(), code);
  }
  RINGSIDE_HD static Bits narrow(float value) {
    return static_cast<Bits>(small_float_rule::narrow(small_float_rule::half(), value));
  }
#endif
};

/// bfloat16.
struct Bfloat16Format {
  using Bits = std::uint16_t;
  using Signed = std::int16_t;
  static constexpr Signed kTop = 0x7F80;
  RINGSIDE_HD static float widen(Bits code) { return small_float_rule::widen_bfloat16(code); }
  RINGSIDE_HD static Bits narrow(float value) { return small_float_rule::narrow_bfloat16(value); }
};

/// float8 e4m3, which has no infinity.
struct E4m3Format {
  using Bits = std::uint8_t;
  using Signed = std::int8_t;
  static constexpr Signed kTop = 0x7E;
  RINGSIDE_HD static float widen(Bits code) {
    return small_float_rule::widen(small_float_rule::e4m3(), code);
  }
  RINGSIDE_HD static Bits narrow(float value) {
    return static_cast<Bits>(small_float_rule::narrow(small_float_rule::e4m3(), value));
  }
};

/// float8 e5m2.
struct E5m2Format {
  using Bits = std::uint8_t;
  using Signed = std::int8_t;
  static constexpr Signed kTop = 0x7C;
  RINGSIDE_HD static float widen(Bits code) {
    return small_float_rule::widen(small_float_rule::e5m2(), code);
  }
  RINGSIDE_HD static Bits narrow(float value) {
    return static_cast<Bits>(small_float_rule::narrow(small_float_rule::e5m2(), value));
  }
};

/// Arithmetic on 16 and 8 bits: computed in float32, rounded to the element after each operation.
template <typename Format>
struct SmallFloatRule {
  using Bits = typename Format::Bits;
  using Signed = typename Format::Signed;
  RINGSIDE_HD static Bits sum(Bits a, Bits b) {
    return Format::narrow(Format::widen(a) + Format::widen(b));
  }
  RINGSIDE_HD static Bits prod(Bits a, Bits b) {
    return Format::narrow(Format::widen(a) * Format::widen(b));
  }
  RINGSIDE_HD static Bits min(Bits a, Bits b) {
    return static_cast<Bits>(
        pick_number<false, Signed, Format::kTop>(static_cast<Signed>(a), static_cast<Signed>(b)));
  }
  RINGSIDE_HD static Bits max(Bits a, Bits b) {
    return static_cast<Bits>(
        pick_number<true, Signed, Format::kTop>(static_cast<Signed>(a), static_cast<Signed>(b)));
  }
};

}  // namespace element_rule

/// Calls visit(rule) with the type's arithmetic: the type Bits, and sum, prod, min and max of two Bits.
template <typename Visit>
RINGSIDE_HD void with_element_rule(DataType type, Visit&& visit) {
  using namespace element_rule;
  switch (type) {
    case DataType::Int8:
      return visit(IntegerRule<std::uint8_t, std::int8_t>{});
    case DataType::Uint8:
      return visit(IntegerRule<std::uint8_t, std::uint8_t>{});
    case DataType::Int32:
      return visit(IntegerRule<std::uint32_t, std::int32_t>{});
    case DataType::Uint32:
      return visit(IntegerRule<std::uint32_t, std::uint32_t>{});
    case DataType::Int64:
      return visit(IntegerRule<std::uint64_t, std::int64_t>{});
    case DataType::Uint64:
      return visit(IntegerRule<std::uint64_t, std::uint64_t>{});
    case DataType::Float16:
      return visit(SmallFloatRule<HalfFormat>{});
    case DataType::Float32:
      return visit(FloatRule<float, std::uint32_t, std::int32_t, 0x7F800000>{});
    case DataType::Float64:
      return visit(FloatRule<double, std::uint64_t, std::int64_t, 0x7FF0000000000000>{});
    case DataType::Bfloat16:
      return visit(SmallFloatRule<Bfloat16Format>{});
    case DataType::Float8E4m3:
      return visit(SmallFloatRule<E4m3Format>{});
    case DataType::Float8E5m2:
      return visit(SmallFloatRule<E5m2Format>{});
  }
}

/// Divides an integer towards 0, as avg does with a sum that may have wrapped around.
template <typename T>
RINGSIDE_HD constexpr T divide_element(T value, int divisor) {
  // The divisor in the wider of the two types: 200 ranks would be -56 as int8.
  if constexpr (sizeof(T) < sizeof(int)) {
    return static_cast<T>(int{value} / divisor);
  } else {
    return static_cast<T>(value / static_cast<T>(divisor));
  }
}

}  // namespace ringside
