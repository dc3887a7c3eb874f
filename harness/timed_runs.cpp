#include "harness/timed_runs.h"

#include <algorithm>

namespace ringside {

Seconds quantile_of(std::vector<Seconds> times, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), times.begin() + place, times.end());
  return times[static_cast<std::size_t>(place)];
}

}  // namespace ringside
