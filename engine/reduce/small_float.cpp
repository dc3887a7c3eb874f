#include "engine/reduce/small_float.h"

#include <algorithm>
#include <bit>

namespace ringside {
namespace {

constexpr std::uint32_t kFloatInfinity = 0x7F800000;

/// A format with 8 exponent bits or fewer: its fields lie in its code as those of float32 do in theirs.
struct Format {
  int bits;
  int mantissa;
  int bias;
  std::uint32_t largest_finite;
  std::uint32_t overflow;  ///< what is beyond the largest becomes

  [[nodiscard]] constexpr std::uint32_t magnitude_mask() const { return (1U << (bits - 1)) - 1; }
  /// Between a mantissa's place in the code and in a float32.
  [[nodiscard]] constexpr int shift() const { return 23 - mantissa; }
  /// Of float32, with the exponent of the smallest normal number of this format.
  [[nodiscard]] constexpr std::uint32_t smallest_normal() const {
    return static_cast<std::uint32_t>(128 - bias) << 23;
  }
};

constexpr Format kHalf{16, 10, 15, 0x7BFF, 0x7C00};
constexpr Format kE4m3{8, 3, 7, 0x7E, 0x7E};
constexpr Format kE5m2{8, 2, 15, 0x7B, 0x7C};

float widen(const Format& format, std::uint32_t code) {
  const std::uint32_t magnitude = code & format.magnitude_mask();
  const std::uint32_t sign = (code & ~format.magnitude_mask()) << (32 - format.bits);
  const std::uint32_t fields = magnitude << format.shift();
  std::uint32_t wide = fields + (static_cast<std::uint32_t>(127 - format.bias) << 23);
  if (magnitude > format.largest_finite) {
    wide = fields | kFloatInfinity;
  } else if (magnitude < (1U << format.mantissa)) {
    // 0.m = 1.m - 1, in units of the smallest normal number.
    wide = std::bit_cast<std::uint32_t>(std::bit_cast<float>(format.smallest_normal() + fields) -
                                        std::bit_cast<float>(format.smallest_normal()));
  }
  return std::bit_cast<float>(sign | wide);
}

std::uint32_t narrow(const Format& format, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > kFloatInfinity) return format.magnitude_mask();
  const std::uint32_t sign = (bits >> 31) << (format.bits - 1);
  if (magnitude < format.smallest_normal()) {
    // The last bit of this number weighs what the format's does: the addition rounds there.
    const std::uint32_t magic = static_cast<std::uint32_t>(128 - format.bias + format.shift())
                                << 23;
    const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(magic);
    return sign | (std::bit_cast<std::uint32_t>(sum) - magic);
  }
  // Half of the last place less one, and one more where that place is odd: ties go to even.
  const std::uint32_t is_odd = (magnitude >> format.shift()) & 1;
  const std::uint32_t half = (1U << (format.shift() - 1)) - 1;
  const std::uint32_t rebias = static_cast<std::uint32_t>(127 - format.bias) << 23;
  const std::uint32_t code = (magnitude - rebias + half + is_odd) >> format.shift();
  return sign | std::min(code, format.overflow);
}

}  // namespace

float half_to_float(std::uint16_t code) { return widen(kHalf, code); }
std::uint16_t float_to_half(float value) {
  return static_cast<std::uint16_t>(narrow(kHalf, value));
}

float bfloat16_to_float(std::uint16_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}
std::uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > kFloatInfinity) return 0x7FFF;
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float e4m3_to_float(std::uint8_t code) { return widen(kE4m3, code); }
std::uint8_t float_to_e4m3(float value) { return static_cast<std::uint8_t>(narrow(kE4m3, value)); }

float e5m2_to_float(std::uint8_t code) { return widen(kE5m2, code); }
std::uint8_t float_to_e5m2(float value) { return static_cast<std::uint8_t>(narrow(kE5m2, value)); }

}  // namespace ringside
