#pragma once

#include <cstdint>

#include "base/device_code.h"

/// Conversions between 16- or 8-bit floating point and float32, for hosts and GPUs: small_float.h is the contract,
/// this is the code.
/// shape  compiled without contraction (-ffp-contract=off, nvcc --fmad=false): each operation rounds
namespace ringside::small_float_rule {

inline constexpr std::uint32_t kFloatInfinity = 0x7F800000;

template <typename To, typename From>
RINGSIDE_HD constexpr To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// A format with at most 8 exponent bits, whose fields have the same order as those of float32.
struct Format {
  int bits;
  int mantissa;
  int bias;
  std::uint32_t largest_finite;
  std::uint32_t overflow;  ///< result for values beyond the largest one

  [[nodiscard]] RINGSIDE_HD constexpr std::uint32_t magnitude_mask() const {
    return (1U << (bits - 1)) - 1;
  }
  /// Returns the distance between the mantissa's place in the code and in a float32.
  [[nodiscard]] RINGSIDE_HD constexpr int shift() const { return 23 - mantissa; }
  /// Returns a float32 with the exponent of this format's smallest normal number.
  [[nodiscard]] RINGSIDE_HD constexpr std::uint32_t smallest_normal() const {
    return static_cast<std::uint32_t>(128 - bias) << 23;
  }
};

// Functions, because GPU code cannot use a host's constants.
RINGSIDE_HD constexpr Format half() { return {16, 10, 15, 0x7BFF, 0x7C00}; }
RINGSIDE_HD constexpr Format e4m3() { return {8, 3, 7, 0x7E, 0x7E}; }
RINGSIDE_HD constexpr Format e5m2() { return {8, 2, 15, 0x7B, 0x7C}; }

RINGSIDE_HD constexpr float widen(const Format& format, std::uint32_t code) {
  const std::uint32_t magnitude = code & format.magnitude_mask();
  const std::uint32_t sign = (code & ~format.magnitude_mask()) << (32 - format.bits);
  const std::uint32_t fields = magnitude << format.shift();
  std::uint32_t wide = fields + (static_cast<std::uint32_t>(127 - format.bias) << 23);
  if (magnitude > format.largest_finite) {
    wide = fields | kFloatInfinity;
  } else if (magnitude < (1U << format.mantissa)) {
    // 0.m = 1.m - 1, in units of the smallest normal number.
    wide = bits_as<std::uint32_t>(bits_as<float>(format.smallest_normal() + fields) -
                                  bits_as<float>(format.smallest_normal()));
  }
  return bits_as<float>(sign | wide);
}

RINGSIDE_HD constexpr std::uint32_t narrow(const Format& format, float value) {
  const auto bits = bits_as<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > kFloatInfinity) return format.magnitude_mask();
  const std::uint32_t sign = (bits >> 31) << (format.bits - 1);
  if (magnitude < format.smallest_normal()) {
    // The last bit of this number has the value of the format's last bit, so the addition rounds there.
    const std::uint32_t magic = static_cast<std::uint32_t>(128 - format.bias + format.shift())
                                << 23;
    const float sum = bits_as<float>(magnitude) + bits_as<float>(magic);
    return sign | (bits_as<std::uint32_t>(sum) - magic);
  }
  // Half of the last place minus one, and one more if that place is odd: ties go to even.
  const std::uint32_t is_odd = (magnitude >> format.shift()) & 1;
  const std::uint32_t half_less_one = (1U << (format.shift() - 1)) - 1;
  const std::uint32_t rebias = static_cast<std::uint32_t>(127 - format.bias) << 23;
  const std::uint32_t code = (magnitude - rebias + half_less_one + is_odd) >> format.shift();
  return sign | (code < format.overflow ? code : format.overflow);
}

RINGSIDE_HD constexpr float widen_bfloat16(std::uint16_t code) {
  return bits_as<float>(static_cast<std::uint32_t>(code) << 16);
}

RINGSIDE_HD constexpr std::uint16_t narrow_bfloat16(float value) {
  const auto bits = bits_as<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > kFloatInfinity) return 0x7FFF;
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

}  // namespace ringside::small_float_rule
