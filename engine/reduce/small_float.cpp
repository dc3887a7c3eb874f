#include "engine/reduce/small_float.h"

#include "engine/reduce/small_float_rule.h"

namespace ringside {

namespace rule = small_float_rule;

float half_to_float(std::uint16_t code) { return rule::widen(rule::half(), code); }
std::uint16_t float_to_half(float value) {
  return static_cast<std::uint16_t>(rule::narrow(rule::half(), value));
}

float bfloat16_to_float(std::uint16_t code) { return rule::widen_bfloat16(code); }
std::uint16_t float_to_bfloat16(float value) { return rule::narrow_bfloat16(value); }

float e4m3_to_float(std::uint8_t code) { return rule::widen(rule::e4m3(), code); }
std::uint8_t float_to_e4m3(float value) {
  return static_cast<std::uint8_t>(rule::narrow(rule::e4m3(), value));
}

float e5m2_to_float(std::uint8_t code) { return rule::widen(rule::e5m2(), code); }
std::uint8_t float_to_e5m2(float value) {
  return static_cast<std::uint8_t>(rule::narrow(rule::e5m2(), value));
}

}  // namespace ringside
