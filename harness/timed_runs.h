#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// How often a call runs untimed, then timed.
struct TimedRuns {
  int warmup = 5;
  int iterations = 20;
};

/// Times runs of ranks against each other: runs `warmup` times, then times each of `iterations`
/// runs. Bind the ranks before (rank_binder()); otherwise the times include context switches.
///
/// run      executes one run. returns  Status
/// ready    synchronises the ranks, called once between the warm-up and the first timed run.
///          returns  Status
/// returns  the time of each timed run
/// errors   the first error of run or ready
template <typename Run, typename Ready>
Result<std::vector<Seconds>> time_runs(const TimedRuns& runs, const Run& run, const Ready& ready) {
  using SteadyClock = std::chrono::steady_clock;
  for (int i = 0; i < runs.warmup; ++i) RINGSIDE_TRY(run());
  RINGSIDE_TRY(ready());
  std::vector<Seconds> times;
  times.reserve(static_cast<std::size_t>(runs.iterations));
  for (int i = 0; i < runs.iterations; ++i) {
    const auto begin = SteadyClock::now();
    RINGSIDE_TRY(run());
    times.push_back(SteadyClock::now() - begin);
  }
  return times;
}

/// Returns the time below which that share of the times lies. shape  at least one time; share 0 ..
/// 1
Seconds quantile_of(std::vector<Seconds> times, double share);

}  // namespace ringside
