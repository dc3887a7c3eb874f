#pragma once

#include <cstdint>

#include "ringside/units.h"

namespace ringside {

/// Returns the sum of two durations, or the largest duration if the sum does not fit into 64 bits.
/// shape  neither is negative. Each time of a trace is within 2^62 ns, so a difference of
/// two fits into 64 bits; the sum of many in a hostile file may not.
inline Nanoseconds saturating_sum(Nanoseconds a, Nanoseconds b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a.count(), b.count(), &sum) ? Nanoseconds::max() : Nanoseconds{sum};
}

}  // namespace ringside
