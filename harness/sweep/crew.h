#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "harness/sweep/point_result.h"
#include "harness/sweep/result_store.h"
#include "ringside/units.h"

namespace ringside {

/// How far a sweep is, over all its workers.
struct SweepProgress {
  std::int64_t all = 0, done = 0;
  std::int64_t here = 0;          ///< that this worker has done
  std::optional<Seconds> left{};  ///< at the pace since this worker began; none: too early
};

/// What a worker is given.
struct CrewOptions {
  int jobs = 1;         ///< processes at once
  Seconds limit{3600};  ///< of a point; longer: it has failed
  std::function<void(const SweepProgress&)> progress = {};
};

/// Works at the store's points until all are done, by whomever: points of workers that are lost meanwhile are taken over.
/// Each point is computed in a process of its own. The process's answer, or its end without one, is the point's result.
///
/// work     of a key; runs in the child
/// Threads  fork() needs a process without other threads
/// errors   as ResultStore's; System: fork failed
Status run_crew(ResultStore& store, const std::function<PointResult(const std::string& key)>& work,
                const CrewOptions& options);

}  // namespace ringside
