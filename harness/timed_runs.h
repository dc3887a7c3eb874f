#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

struct TimedRuns {
  int warmup = 5;
  int iterations = 20;
};

/// The measuring loop of everything that times ranks against each other: runs until caches and connections are warm, then
/// times each run by itself. Ranks have to be placed before (rank_binder()): on wandering ranks the scheduler is timed.
///
/// run      one run. returns  Status
/// ready    called once between the last warm-up and the first timed run: brings the ranks together. returns  Status
/// returns  the time of each timed run
/// errors   the first of run or ready
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

/// The time below which that share of them lies. shape  at least one; share 0 .. 1
Seconds quantile_of(std::vector<Seconds> times, double share);

}  // namespace ringside
