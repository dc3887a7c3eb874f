#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/write_file.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/sweep/sweep_page.h"
#include "cli/sweep/sweep_tables.h"
#include "cli/verb.h"
#include "engine/runtime/bootstrap/launch.h"
#include "harness/sweep/crew.h"
#include "study/sweep/sweep_report.h"

namespace ringside::cli {
namespace {

namespace fs = std::filesystem;
using study::SweepPoint;

struct SweepArguments {
  std::string file;
  std::string folder;
  study::SweepMethod method{.fidelity = "auto", .version = RINGSIDE_VERSION};
  int jobs = 0;
  double limit_s = 3600;
  bool is_report_only = false;
  bool is_forced = false;
  bool json = false;
};

int cores_of_process() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return 1;
}

/// The number of worker processes: one for each core of this process. Slurm's count, else the allowed cores, shared
/// with the other ranks of the host if their cores are not separate.
/// errors  InvalidArgument: the launcher's variables contradict each other
Result<int> jobs_here(const std::optional<LaunchInfo>& launch) {
  RINGSIDE_TRY(const auto assigned, env_int("SLURM_CPUS_PER_TASK", 1, 1 << 16));
  if (assigned) return static_cast<int>(*assigned);
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
            const SweepArguments& arguments, int jobs, bool prints) {
  std::map<std::string, const SweepPoint*> by_key;
  for (const SweepPoint& point : points) by_key[point.key] = &point;
  std::optional<Progress> progress;
  if (prints) progress.emplace("sweep");
  std::optional<std::int64_t> open_at_first;
  CrewOptions options{.jobs = jobs, .limit = Seconds{arguments.limit_s}};
  options.progress = [&](const SweepProgress& now) {
    if (!progress) return;
    if (!open_at_first) open_at_first = now.all - now.done;
    const std::int64_t left = now.all - now.done;
    const double share =
        *open_at_first == 0 ? 1.0
                            : 1.0 - static_cast<double>(left) / static_cast<double>(*open_at_first);
    progress->show(share, fmt::format("{} of {} points", now.done, now.all));
  };
  return run_crew(
      store,
      [&](const std::string& key) {
        return study::run_point(sweep, *by_key.at(key), arguments.method);
      },
      options);
}

VerbResult run(const SweepArguments& arguments) {
  if (arguments.jobs < 0 || arguments.jobs > 4096) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--jobs {}", arguments.jobs),
                 "give 1 to 4096, or omit it: one a core"};
  }
  if (!(arguments.limit_s > 0) || arguments.limit_s > 1e7) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--limit {}", arguments.limit_s),
                 "give seconds, above 0"};
  }
  RINGSIDE_TRY(const study::Sweep sweep, study::load_sweep(arguments.file));
  RINGSIDE_TRY(std::vector<SweepPoint> points, study::points_of(sweep, arguments.method));
  RINGSIDE_TRY(const auto launch, launch_from_environment());
  int jobs = arguments.jobs;
  if (jobs == 0) {
    RINGSIDE_TRY(jobs, jobs_here(launch));
  }
  const std::string folder = arguments.folder.empty()
                                 ? fs::path(arguments.file).stem().string() + ".sweep"
                                 : arguments.folder;
  const bool prints = !launch || launch->rank == 0;
  if (!arguments.is_forced) RINGSIDE_TRY(check_own_folder(folder, ResultStore::kFile));
  RINGSIDE_TRY(ResultStore store, ResultStore::open(folder));
  std::vector<StoredPoint> stored;
  for (const SweepPoint& point : points) {
    const std::string settings = point.settings_text();
    stored.push_back({point.key, fmt::format("{} / {}{}{}", sweep.clusters[point.cluster].name,
                                             sweep.workloads[point.workload].name,
                                             settings.empty() ? "" : " / ", settings)});
  }
  RINGSIDE_TRY(store.set_points(stored));
  if (!arguments.is_report_only) {
    RINGSIDE_TRY(work(store, sweep, points, arguments, jobs, prints));
  }
  if (!prints) return kFine;
  RINGSIDE_TRY(std::vector<study::SweepRow> rows, rows_of(store, points));
  const study::SweepReport report =
      study::make_sweep_report(sweep, std::move(rows), arguments.method);
  const Json document = sweep_document(report);
  const auto file = [&folder](const char* name) { return (fs::path(folder) / name).string(); };
  RINGSIDE_TRY(write_file(file("points.csv"), sweep_csv(report)));
  RINGSIDE_TRY(write_file(file("points.json"), to_text(document)));
  RINGSIDE_TRY(write_file(file("index.html"), sweep_page(report)));
  if (arguments.json) {
    fmt::print("{}", to_text(document));
  } else {
    fmt::print("{}written: {}, points.csv, points.json\n", sweep_text(report), file("index.html"));
  }
  const bool is_any_wrong = std::ranges::any_of(report.rows, [](const study::SweepRow& row) {
    return row.result && (row.result->end == PointResult::End::Hang ||
                          row.result->end == PointResult::End::Failed);
  });
  const bool is_nothing_known = report.done > 0 && report.finished == 0;
  return is_any_wrong || is_nothing_known ? kFinding : kFine;
}

}  // namespace

Verb sweep_verb() {
  return {
      "sweep",
      "Simulate a job on many clusters, with many settings; which is fastest, which is cheapest?",
      {"ringside sweep scenarios/buying/tcp-or-rdma.yaml -o tcp-or-rdma.sweep",
       "ringside sweep scenarios/buying/tcp-or-rdma.yaml -o tcp-or-rdma.sweep --report-only"},
      [](Options& app) {
        auto arguments = std::make_shared<SweepArguments>();
        SweepArguments& a = *arguments;
        app.add_option("file", a.file, "a sweep/1 (docs/reference/sweep.md)")->required();
        app.add_option("-o,--output", a.folder,
                       "folder for results and report (default: the file's name with .sweep); "
                       "what is done there is not done again");
        app.add_option("-j,--jobs", a.jobs, "points at once (default: one a core)");
        app.add_option("--fidelity", a.method.fidelity, "of simulated calls, as sim has it")
            ->capture_default_str();
        app.add_option("--limit", a.limit_s, "seconds that a point may take")
            ->capture_default_str();
        app.add_flag("--report-only", a.is_report_only, "write the report of what is done");
        app.add_flag("--force", a.is_forced, "write into a folder with other files in it");
        app.add_flag("--json", a.json, "one JSON document on stdout");
        return [arguments] { return run(*arguments); };
      }};
}

}  // namespace ringside::cli
