#pragma once

#include <chrono>

#include "base/units.h"

namespace ringside {

/// When a wait gives up. Whoever starts a job makes the deadline; what it calls passes it on, so that
/// ten waits in a row still end at one time.
using Deadline = std::chrono::steady_clock::time_point;

inline Deadline deadline_in(Nanoseconds wait) { return std::chrono::steady_clock::now() + wait; }

inline bool has_passed(Deadline deadline) { return std::chrono::steady_clock::now() >= deadline; }

/// returns  milliseconds for poll(2): rounded up so that a wait never ends early and spins; 0 when the
///          deadline has passed; at most a minute, so loop on it
inline int poll_timeout(Deadline deadline) {
  constexpr auto kLongest = std::chrono::minutes(1);
  const auto now = std::chrono::steady_clock::now();
  if (deadline <= now) return 0;
  if (deadline - now >= kLongest) return 60'000;
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(deadline - now).count());
}

}  // namespace ringside
