#pragma once

#include <algorithm>
#include <cstdint>

namespace ringside {

/// Returns the time at which a display or trace of the times `first_ns` to `last_ns` ends a call that never ends: an
/// eighth of their span, and at least 1 us, after the last.
constexpr std::int64_t shown_end_of_endless(std::int64_t first_ns, std::int64_t last_ns) {
  return last_ns + std::max<std::int64_t>((last_ns - first_ns) / 8, 1000);
}

}  // namespace ringside
