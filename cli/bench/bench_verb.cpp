#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "base/json.h"
#include "base/local_time.h"
#include "base/text.h"
#include "base/write_file.h"
#include "cli/bench/bench_arguments.h"
#include "cli/bench/bench_cuda.h"
#include "cli/bench/bench_peer.h"
#include "cli/bench/bench_report.h"
#include "cli/bench/bench_shapes.h"
#include "cli/command_line.h"
#include "cli/options.h"
#include "cli/plots/curves_plot.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "engine/cuda/gpu/gpu.h"
#include "harness/gpu_processes.h"

namespace ringside::cli {
namespace {

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

/// What all ranks know of the run; the printing rank prints it.
class Report {
 public:
  Report(const JobRank& rank, const BenchOptions& options, const BenchArguments& arguments)
      : arguments_(arguments),
        is_printing_(rank.prints_results),
        job_{options, rank.communicator.nranks(), rank.communicator.transport()},
        progress_("bench") {
    if (is_printing_) {
      job_.options.on_progress = [this](double share) { progress_.show(share); };
    }
  }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  [[nodiscard]] const BenchOptions& options() const { return job_.options; }
  [[nodiscard]] bool prints_text() const { return is_printing_ && arguments_.prints_text(); }

  /// The shape of another benchmark, and what it shows of the run. `run` outlives the report.
  void print_like(BenchShape shape, const NcclTestsRun& run) {
    shape_ = shape;
    run_ = &run;
  }

  void head(const std::string& text, const std::string& csv) {
    if (prints_text()) print(text);
    if (is_printing_ && arguments_.csv) print(csv);
  }

  template <typename Row>
  void row(const Row& row) {
    if (!is_printing_ || arguments_.json) return;
    progress_.erase();
    print(arguments_.csv ? csv_of(row) : text_of(row));
  }

  void foot(const std::string& text) {
    progress_.erase();
    if (prints_text()) print(text);
  }

  template <typename Row>
  Status finish(const std::vector<Row>& rows, const std::vector<study::Curve>& curves) {
    if (!is_printing_) return {};
    if (arguments_.json) print(json_of(rows));
    if constexpr (std::is_same_v<Row, BenchRow>) {
      if (!arguments_.nccl_tests_file.empty() && run_ != nullptr) {
        RINGSIDE_TRY(write_file(arguments_.nccl_tests_file,
                                nccl_tests_json(job_, *run_, rows, command_words())));
      }
    }
    return arguments_.plot.empty() ? Status() : draw(curves);
  }

  [[nodiscard]] const BenchJob& job() const { return job_; }

 private:
  [[nodiscard]] std::string text_of(const BenchRow& row) const {
    if (shape_ == BenchShape::Osu) return osu_line(job_, row);
    return shape_ == BenchShape::NcclTests ? nccl_tests_line(job_, row) : sweep_line(job_, row);
  }
  [[nodiscard]] std::string text_of(const GridRow& row) const { return grid_lines(row); }
  [[nodiscard]] std::string csv_of(const BenchRow& row) const { return sweep_csv(job_, row); }
  [[nodiscard]] std::string csv_of(const GridRow& row) const { return grid_csv(job_, row); }
  [[nodiscard]] std::string json_of(const std::vector<BenchRow>& rows) const {
    return sweep_json(job_, rows);
  }
  [[nodiscard]] std::string json_of(const std::vector<GridRow>& rows) const {
    return grid_json(job_, rows);
  }

  [[nodiscard]] Status draw(const std::vector<study::Curve>& curves) const {
    const std::string title =
        fmt::format("{}, {} {}, {} ranks over {}", to_string(job_.options.collective),
                    to_string(job_.options.type), study::redop_column(job_.options), job_.nranks,
                    job_.transport);
    RINGSIDE_TRY(write_file(arguments_.plot, curves_svg(title, curves)));
    if (prints_text()) print(fmt::format("# drawn in {}\n", arguments_.plot));
    return {};
  }

  const BenchArguments& arguments_;
  const bool is_printing_;
  BenchShape shape_ = BenchShape::Ringside;
  const NcclTestsRun* run_ = nullptr;
  BenchJob job_;
  Progress progress_;
};

/// Saves the best of each size for this user's next runs.
Status keep_table(const runtime::Communicator& communicator, const std::vector<GridRow>& rows,
                  Report& report) {
  const std::string path = host_table_path();
  if (path.empty()) {
    return Error{ErrorCode::InvalidArgument, "no place for the table",
                 "set XDG_CONFIG_HOME or HOME"};
  }
  RINGSIDE_TRY(HostTable table, load_host_table(path));
  table.replace(rules_of(rows, {.collective = report.options().collective,
                                .transport = communicator.layout().slowest,
                                .is_crowded = communicator.layout().is_crowded,
                                .nranks = communicator.nranks()}));
  RINGSIDE_TRY(save_host_table(table, path));
  report.foot(fmt::format("# written to {}\n", path));
  return {};
}

/// Times every algorithm and protocol, and with --tune saves the best as the user's own table.
Result<int> run_grid(JobRank& rank, const BenchOptions& options, const BenchArguments& arguments) {
  Report report(rank, options, arguments);
  report.head(grid_head(report.job()), grid_csv_head());
  RINGSIDE_TRY(const std::vector<GridRow> rows,
               run_bench_grid(rank.communicator, report.options(),
                              [&](const GridRow& row) { report.row(row); }));
  report.foot(grid_foot(rows));
  RINGSIDE_TRY(report.finish(rows, study::curves_of(report.job(), rows)));
  const bool is_right = study::wrong_in(rows) == 0;
  if (rank.prints_results && arguments.tune && is_right) {
    RINGSIDE_TRY(keep_table(rank.communicator, rows, report));
  }
  return is_right ? kFine : kFinding;
}

/// Returns a line for each way in which the printing rank's connections were made: `# 4 connections: shm`.
std::string connection_lines(const runtime::Communicator& communicator) {
  std::string text;
  for (const auto& [type, count] : communicator.connection_types()) {
    text += fmt::format("# {} connection{}: {}\n", count, count == 1 ? "" : "s", type);
  }
  return text;
}

/// Returns what nccl-tests shows of a run. Every rank calls it.
Result<NcclTestsRun> nccl_tests_run(JobRank& rank, const BenchOptions& options,
                                    const BenchArguments& arguments) {
  NcclTestsRun run;
  run.began = local_time();
  run.least = options.sizes.front();
  RINGSIDE_TRY(run.most, parse_bytes(arguments.to));
  run.factor = arguments.factor_or_default();
  if (!arguments.step.empty()) {
    RINGSIDE_TRY(run.step, parse_bytes(arguments.step));
  }
  const std::string device = options.gpu != nullptr ? options.gpu->facts().name
                                                    : "process, " + rank.communicator.transport();
  RINGSIDE_TRY(run.members, gather_members(rank.communicator, device));
  return run;
}

Result<int> run_sweep(JobRank& rank, const BenchOptions& options, const BenchArguments& arguments) {
  NcclTestsRun shown;  // the report refers to it
  Report report(rank, options, arguments);
  RINGSIDE_TRY(const BenchShape shape, parse_shape(arguments.like, options.collective));
  if (shape != BenchShape::Ringside || !arguments.nccl_tests_file.empty()) {
    RINGSIDE_TRY(shown, nccl_tests_run(rank, options, arguments));
    report.print_like(shape, shown);
  }
  report.head(shape == BenchShape::Osu         ? osu_head(report.job())
              : shape == BenchShape::NcclTests ? nccl_tests_head(report.job(), shown)
                                               : sweep_head(report.job()),
              sweep_csv_head());
  RINGSIDE_TRY(const std::vector<BenchRow> rows,
               run_bench(rank.communicator, report.options(),
                         [&](const BenchRow& row) { report.row(row); }));
  report.foot(shape == BenchShape::Osu ? std::string()
              : shape == BenchShape::NcclTests
                  ? nccl_tests_foot(report.job(), rows)
                  : sweep_foot(rows) + connection_lines(rank.communicator));
  RINGSIDE_TRY(report.finish(rows, study::curves_of(rows)));
  return study::wrong_in(rows) == 0 ? kFine : kFinding;
}

/// Measures communication during a computation, and prints three lines or one JSON document.
Result<int> run_overlapped(JobRank& rank, const BenchArguments& arguments) {
  RINGSIDE_TRY(const OverlapOptions options, overlap_options(arguments));
  RINGSIDE_TRY(const OverlapResult result, run_overlap(rank.communicator, options));
  if (!rank.prints_results) return kFine;
  const double hidden = 1 - result.exposed.count() / std::max(result.communication.count(), 1e-12);
  if (arguments.json) {
    const Json document{{"schema", "ringside.bench/1"},
                        {"nranks", rank.communicator.nranks()},
                        {"transport", rank.communicator.transport()},
                        {"overlap",
                         {{"bytes", options.gradients.value},
                          {"layers", options.layers},
                          {"buckets", result.buckets},
                          {"compute_us", in_us(result.compute)},
                          {"communication_us", in_us(result.communication)},
                          {"total_us", in_us(result.total)},
                          {"exposed_us", in_us(result.exposed)}}}};
    print(to_text(document));
    return kFine;
  }
  print(fmt::format(
      "# {} of gradients in {} buckets over {} ranks, {}\n"
      "# compute {}, communication alone {}, together {}\n"
      "# exposed communication: {} ({:.0f} % hidden)\n",
      format_bytes(options.gradients), result.buckets.size(), rank.communicator.nranks(),
      rank.communicator.transport(), format_time(result.compute), format_time(result.communication),
      format_time(result.total), format_time(result.exposed), 100 * std::clamp(hidden, 0.0, 1.0)));
  return kFine;
}

Status check_root(const BenchOptions& bench, int nranks) {
  if (to_int(bench.root) >= 0 && to_int(bench.root) < nranks) return {};
  return Error{ErrorCode::InvalidArgument, fmt::format("--root {}", to_int(bench.root)),
               fmt::format("give a rank from 0 to {}", nranks - 1)};
}

VerbResult run(const BenchArguments& arguments) {
  if (arguments.device != "host" && arguments.device != "cuda") {
    return Error{ErrorCode::InvalidArgument, fmt::format("--device {}", arguments.device),
                 "give host or cuda"};
  }
  RINGSIDE_TRY(const bool on_gpus, has_gpu_processes(arguments));
  if (arguments.device == "cuda" && !on_gpus && !arguments.has_peer())
    return run_bench_on_gpu(arguments);
  RINGSIDE_TRY(BenchOptions options, bench_options(arguments));
  RINGSIDE_TRY(JobOptions job, bench_job_options(arguments));
  std::unique_ptr<Gpu> gpu;  // of each rank, in its own process
  if (arguments.backend == "nccl") {
    options.backend = arguments.backend;
    job.make_executor = gpu_nccl_executor(gpu);
  } else if (arguments.has_peer()) {
    RINGSIDE_TRY(use_peer(arguments, options, job));
  } else if (on_gpus) {
    job.make_executor = gpu_process_executor(gpu, job.communicator.host.transport);
  }
  RINGSIDE_TRY(check_bench(options, job.communicator.settings));
  job.memory = bench_memory(options);
  if (!arguments.overlap.empty()) {
    RINGSIDE_TRY(const OverlapOptions overlap, overlap_options(arguments));
    job.memory = overlap.gradients;
  }
  VerbResult done = run_job(job, [&](JobRank& rank) -> Result<int> {
    RINGSIDE_TRY(check_root(options, rank.communicator.nranks()));
    if (gpu) options.device = &gpu->memory();
    options.gpu = gpu.get();
    if (!arguments.overlap.empty()) return run_overlapped(rank, arguments);
    return arguments.is_grid() ? run_grid(rank, options, arguments)
                               : run_sweep(rank, options, arguments);
  });
  if (done || done.error().code != ErrorCode::Timeout) return done;
  Error why = done.error();
  why.help += ": --op-timeout";
  return why;
}

}  // namespace

Verb bench_verb() {
  return {"bench",
          "Time and verify a collective on real processes (nccl-tests' table)",
          {"ringside bench all_reduce -n 4 -b 8 -e 4M -f 4",
           "ringside bench all_gather -n 2 -e 1M --transport tcp --json"},
          [](Options& app) {
            auto arguments = std::make_shared<BenchArguments>();
            declare_bench(app, *arguments);
            return [arguments, &app] {
              arguments->is_forced = app.is_forced();
              return run(*arguments);
            };
          }};
}

}  // namespace ringside::cli
