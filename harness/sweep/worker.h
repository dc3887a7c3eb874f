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

/// The progress of a sweep over all its workers.
struct SweepProgress {
  std::int64_t all = 0, done = 0;
  std::int64_t here = 0;  ///< points done by this worker
  std::optional<Seconds>
      left{};  ///< estimate by the pace of all workers since this one began; none: no point was done since
};

/// Settings of a worker.
struct WorkerOptions {
  int jobs = 1;         ///< number of concurrent processes
  Seconds limit{3600};  ///< time limit per point; a longer point fails
  std::function<void(const SweepProgress&)> progress = {};
};

/// Computes the store's points until all are done, by this or other workers. It takes over the
/// points of lost workers. Each point runs in a process of its own; the process's answer, or its
/// failure, is the point's result. A process that is killed from outside (SIGKILL) is restarted
/// twice at most: the third kill is the point's result. A point ends with its process, even if a process that it started
/// still runs.
///
/// compute  computes a point; runs in the child process
/// Threads  call it before any thread is started: it forks
/// errors   System: no pipe or process can be made; as the functions of ResultStore. The processes
///          that still run are then ended
Status run_worker(ResultStore& store,
                  const std::function<PointResult(const std::string& key)>& compute,
                  const WorkerOptions& options);

}  // namespace ringside
