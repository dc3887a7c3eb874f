#include "sim/flow/steady.h"

#include <cmath>
#include <utility>

namespace ringside {
namespace {

// Loops count as steady when their time changes by less than this share.
constexpr double kSamePace = 1e-3;

}  // namespace

Result<Seconds> until_steady(const Repeated& what,
                             const std::function<Result<Seconds>(std::int64_t)>& run) {
  if (what.all <= what.most) return run(what.all);
  std::int64_t some = what.first;
  if (some >= what.all) return run(what.all);
  RINGSIDE_TRY(Seconds time, run(some));
  Seconds pace = time / static_cast<double>(some);
  bool is_steady = false;
  while (2 * some < what.all) {
    RINGSIDE_TRY(const Seconds longer, run(2 * some));
    const Seconds now = (longer - std::exchange(time, longer)) / static_cast<double>(some);
    some *= 2;
    const bool was_steady =
        std::exchange(is_steady, std::abs((now - std::exchange(pace, now)) / now) <= kSamePace);
    if ((is_steady && was_steady) || 2 * some > what.most) break;
  }
  if (2 * some >= what.all && !is_steady) return run(what.all);
  return time + pace * (what.work - static_cast<double>(some));
}

}  // namespace ringside
