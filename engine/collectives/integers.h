#pragma once

#include <cstdint>

#include "base/device_code.h"

/// Integer functions that also compile for GPUs, unlike those of <algorithm> and <bit>.
namespace ringside {

RINGSIDE_HD constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return b < a ? b : a; }

/// shape  a >= 0, b >= 1
RINGSIDE_HD constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}
RINGSIDE_HD constexpr std::int64_t ceil_multiple(std::int64_t a, std::int64_t b) {
  return ceil_div(a, b) * b;
}

RINGSIDE_HD constexpr int count_bits(unsigned bits) {
  int count = 0;
  for (; bits != 0; bits &= bits - 1) ++count;
  return count;
}

/// Returns the index of the lowest set bit.  shape  bits > 0
RINGSIDE_HD constexpr int lowest_bit(unsigned bits) {
  int number = 0;
  for (; (bits & 1U) == 0; bits >>= 1) ++number;
  return number;
}

/// Returns the smallest power of two that is at least `value`.  shape  1 .. 2^30
RINGSIDE_HD constexpr int ceil_power_of_two(int value) {
  int power = 1;
  while (power < value) power *= 2;
  return power;
}

}  // namespace ringside
