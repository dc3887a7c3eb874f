#include "cli/sweep/sweep_run.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/folder.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "engine/runtime/bootstrap/launch.h"
#include "harness/sweep/worker.h"

namespace ringside::cli {
namespace {

using study::SweepPoint;

int cores_of_process() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return 1;
}

/// Returns the number of worker processes: the cores of this process, by Slurm's count or its affinity, divided by the
/// ranks of the host if these share the cores.
/// errors  InvalidArgument: the launcher's variables contradict each other
Result<int> jobs_here(const std::optional<LaunchInfo>& launch) {
  RINGSIDE_TRY(const auto slurm_cores, env_int("SLURM_CPUS_PER_TASK", 1, 1 << 16));
  if (slurm_cores) return static_cast<int>(*slurm_cores);
  const int mine = cores_of_process();
  const int all = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const int ranks = launch ? launch->local_ranks.value_or(1) : 1;
  return mine < all ? mine : std::max(1, all / ranks);
}

Result<std::vector<study::SweepRow>> rows_of(ResultStore& store,
                                             const std::vector<SweepPoint>& points) {
  RINGSIDE_TRY(const std::vector<ResultStore::Done> all, store.done());
  std::map<std::string, const ResultStore::Done*> by_key;
  for (const ResultStore::Done& one : all) by_key[one.key] = &one;
  std::vector<study::SweepRow> rows;
  for (const SweepPoint& point : points) {
    study::SweepRow row{.point = point};
    if (const auto found = by_key.find(point.key); found != by_key.end()) {
      RINGSIDE_TRY(row.result, parse_point_result(found->second->result));
      row.wall_s = found->second->wall_s;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Status work(ResultStore& store, const study::Sweep& sweep, const std::vector<SweepPoint>& points,
            const SweepOptions& how, int jobs, bool shows_progress) {
  std::map<std::string, const SweepPoint*> by_key;
  for (const SweepPoint& point : points) by_key[point.key] = &point;
  std::optional<Progress> progress;
  if (shows_progress) progress.emplace("sweep");
  std::optional<std::int64_t> open_at_first;
  WorkerOptions options{.jobs = jobs, .limit = Seconds{how.limit_s}};
  options.progress = [&](const SweepProgress& now) {
    if (!progress) return;
    if (!open_at_first) open_at_first = now.all - now.done;
    const std::int64_t left = now.all - now.done;
    const double share =
        *open_at_first == 0 ? 1.0
                            : 1.0 - static_cast<double>(left) / static_cast<double>(*open_at_first);
    progress->show(share, fmt::format("{} of {} points", now.done, now.all));
  };
  return run_worker(
      store,
      [&](const std::string& key) { return study::run_point(sweep, *by_key.at(key), how.method); },
      options);
}

}  // namespace

Result<std::optional<study::SweepReport>> run_sweep(study::Sweep sweep, const std::string& folder,
                                                    const SweepOptions& how) {
  RINGSIDE_TRY(const std::vector<SweepPoint> points, study::points_of(sweep, how.method));
  RINGSIDE_TRY(const auto launch, launch_from_environment());
  int jobs = how.jobs;
  if (jobs == 0) {
    RINGSIDE_TRY(jobs, jobs_here(launch));
  }
  const bool shows_progress = !launch || launch->rank == 0;
  if (!how.is_forced) RINGSIDE_TRY(check_own_folder(folder, ResultStore::kFile));
  RINGSIDE_TRY(ResultStore store, ResultStore::open(folder));
  std::vector<StoredPoint> stored;
  for (const SweepPoint& point : points) {
    const std::string settings = point.settings_text();
    stored.push_back({point.key, fmt::format("{} / {}{}{}", sweep.clusters[point.cluster].name,
                                             sweep.workloads[point.workload].name,
                                             settings.empty() ? "" : " / ", settings)});
  }
  RINGSIDE_TRY(store.set_points(stored));
  if (!how.is_report_only) {
    RINGSIDE_TRY(work(store, sweep, points, how, jobs, shows_progress));
  }
  if (!shows_progress) return std::optional<study::SweepReport>{};
  RINGSIDE_TRY(std::vector<study::SweepRow> rows, rows_of(store, points));
  return std::optional(study::make_sweep_report(std::move(sweep), std::move(rows), how.method));
}

int sweep_status(const study::SweepReport& report) {
  const bool is_any_wrong = std::ranges::any_of(report.rows, [](const study::SweepRow& row) {
    return row.result && (row.result->end == PointResult::End::Hang ||
                          row.result->end == PointResult::End::Failed);
  });
  const bool is_nothing_known = report.done > 0 && report.finished == 0;
  return is_any_wrong || is_nothing_known ? kFinding : kFine;
}

}  // namespace ringside::cli
