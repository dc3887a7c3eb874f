#pragma once

#include <cstdint>

#include "base/device_code.h"

/// Integer functions that also compile for GPUs, unlike those of <algorithm> and <bit>.
namespace ringside {

RINGSIDE_HD constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return b < a ? b : a; }

/// Returns a / b, rounded up.  shape  a >= 0, b >= 1
/// A divisor of 1 has its own path, because a division of 64 bits takes a GPU some hundred instructions, and most
/// divisors of a short call are 1.
RINGSIDE_HD constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  if (b == 1) return a;
  return a / b + (a % b != 0 ? 1 : 0);
}

/// Returns the smallest multiple of b that is not less than a.  shape  a >= 0, b >= 1
RINGSIDE_HD constexpr std::int64_t ceil_multiple(std::int64_t a, std::int64_t b) {
  if (a <= b) return a == 0 ? 0 : b;
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

/// Calls visit(number) for each bit that is set, from the lowest on.
template <typename Visit>
RINGSIDE_HD void for_each_bit(std::uint64_t bits, Visit&& visit) {
  for (; bits != 0; bits &= bits - 1) {
#ifdef __CUDA_ARCH__
    visit(__ffsll(static_cast<long long>(bits)) - 1);
#else
    visit(__builtin_ctzll(bits));
#endif
  }
}

/// Returns the smallest power of two that is not less than `value`.  shape  1 .. 2^30
RINGSIDE_HD constexpr int ceil_power_of_two(int value) {
  int power = 1;
  while (power < value) power *= 2;
  return power;
}

}  // namespace ringside
