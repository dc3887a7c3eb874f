#include "cli/bench/bench_cuda.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/host_name.h"
#include "base/json.h"
#include "base/path_pattern.h"
#include "base/text.h"
#include "cli/bench/bench_arguments.h"
#include "engine/cuda/cuda_choice.h"
#include "engine/runtime/bootstrap/launch.h"
#include "harness/gpu_bench.h"
#include "study/validate/bench_rows.h"
#include "trace/file_sink.h"

namespace ringside::cli {
namespace {

void show(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

Status check_options(const BenchArguments& arguments) {
  const auto refused = [](const char* option) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} with --device cuda", option),
                 "omit it, or give --processes: it applies to ranks that are processes"};
  };
  if (arguments.is_grid()) return refused("--all-algos or --tune");
  if (!arguments.overlap.empty()) return refused("--overlap");
  if (!arguments.transport.empty()) return refused("--transport");
  if (arguments.csv) return refused("--csv");
  if (!arguments.like.empty()) return refused("--like");
  if (!arguments.nccl_tests_file.empty()) return refused("-J");
  if (!arguments.plot.empty()) return refused("--plot");
  if (arguments.faults.is_any()) return refused("--fault");
  if (!arguments.dumps.empty()) return refused("--dumps");
  if (arguments.status_port) return refused("--status");
  if (arguments.expects) return refused("--expect");
  if (arguments.ranks_per_node != 0) return refused("--ranks-per-node");
  return {};
}

double percent_of_copy(const GpuBench& bench, const GpuBenchRow& row) {
  return 100 * row.moved.value / bench.copy.value;
}

std::string head(const GpuFacts& gpu, const BenchOptions& options, int nranks) {
  return fmt::format(
             "# ringside {}: {}, {} ranks on one {} (sm_{}{}, {} multiprocessors), driver CUDA "
             "{}.{}\n",
             RINGSIDE_VERSION, to_string(options.collective), nranks, gpu.name, gpu.major,
             gpu.minor, gpu.multiprocessors, gpu.driver / 1000, gpu.driver % 1000 / 10) +
         fmt::format(
             "# {} warm-up and {} timed {}, by the GPU's clock, which copies have warmed before; "
             "graph: "
             "one run of many in a CUDA graph\n#\n",
             options.warmup, options.iterations,
             options.graph == 0 ? "runs" : fmt::format("graphs of {} runs", options.graph)) +
         fmt::format("#{:>12}{:>14}{:>10}{:>8}{:>8}{:>12}{:>12}{:>10}{:>10}{:>10}{:>8}\n", "size",
                     "count", "type", "redop", "root", "time", "graph", "algbw", "busbw", "of copy",
                     "#wrong") +
         fmt::format("#{:>12}{:>14}{:>10}{:>8}{:>8}{:>12}{:>12}{:>10}{:>10}{:>10}\n", "(B)",
                     "(elements)", "", "", "", "(us)", "(us)", "(GB/s)", "(GB/s)", "(%)");
}

std::string line(const GpuBench& bench, const BenchOptions& options) {
  const GpuBenchRow& row = bench.rows.back();
  return fmt::format(
      " {:>12}{:>14}{:>10}{:>8}{:>8}{:>12.2f}{:>12.2f}{:>10.2f}{:>10.2f}{:>10.1f}{:>8}  {} {} {}\n",
      row.bytes.value, row.count, to_string(options.type), study::redop_column(options),
      study::root_column(options), in_us(row.median), in_us(row.graph), in_gbs(row.algbw),
      in_gbs(row.busbw), percent_of_copy(bench, row),
      options.checks == 0 ? "N/A" : fmt::to_string(row.wrong), to_string(row.choice.algorithm),
      to_string(row.choice.protocol), row.choice.nchannels);
}

Json document(const GpuFacts& gpu, const GpuBench& bench, const BenchOptions& options, int nranks) {
  Json rows = Json::array();
  for (const GpuBenchRow& row : bench.rows) {
    rows.push_back({{"bytes", row.bytes.value},
                    {"count", row.count},
                    {"type", to_string(options.type)},
                    {"redop", study::redop_column(options)},
                    {"root", study::root_column(options)},
                    {"algorithm", to_string(row.choice.algorithm)},
                    {"protocol", to_string(row.choice.protocol)},
                    {"nchannels", row.choice.nchannels},
                    {"time_us", in_us(row.median)},
                    {"graph_us", in_us(row.graph)},
                    {"algbw_gbs", in_gbs(row.algbw)},
                    {"busbw_gbs", in_gbs(row.busbw)},
                    {"of_copy_percent", percent_of_copy(bench, row)},
                    {"wrong", row.wrong}});
  }
  return {{"schema", "ringside.bench/1"},
          {"nranks", nranks},
          {"device",
           {{"name", gpu.name},
            {"compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor)},
            {"multiprocessors", gpu.multiprocessors},
            {"driver_cuda", gpu.driver},
            {"runtime_cuda", gpu.runtime},
            {"copy_gbs", in_gbs(bench.copy)},
            {"warmed_us", in_us(bench.warmed)}}},
          {"graph_launches", options.graph},
          {"results", rows}};
}

Result<std::unique_ptr<TraceRecorder>> trace_to(const std::string& path,
                                                const std::string& command) {
  TraceInfo info = this_process_info(TraceClock::HostMonotonic);
  info.command_line = command;
  return record_to_file(filled_in_path(path, host_name("localhost"), ::getpid()), info);
}

}  // namespace

Result<bool> has_gpu_processes(const BenchArguments& arguments) {
  if (arguments.has_peer()) return false;
  const bool is_nccl = arguments.backend == "nccl";
  if (arguments.device != "cuda") {
    if (is_nccl) {
      return Error{ErrorCode::InvalidArgument, "--backend nccl without --device cuda",
                   "add --device cuda: NCCL has no other"};
    }
    if (arguments.graph != 0) {
      return Error{ErrorCode::InvalidArgument, "--graph without --device cuda",
                   "add --device cuda: hosts have no graphs"};
    }
    if (!arguments.processes) return false;
    return Error{ErrorCode::InvalidArgument, "--processes without --device cuda",
                 "omit it: ranks on hosts are processes"};
  }
  RINGSIDE_TRY(const std::optional<LaunchInfo> launched, launch_from_environment());
  if (!launched && !arguments.processes && !is_nccl) return false;
  for (const auto& [is_given, option] :
       {std::pair(arguments.tune, "--tune"), std::pair(!arguments.overlap.empty(), "--overlap"),
        std::pair(arguments.faults.is_any(), "--fault"),
        std::pair(is_nccl && arguments.is_grid(), "--all-algos and --backend nccl"),
        std::pair(is_nccl && !arguments.transport.empty(), "--transport and --backend nccl"),
        std::pair(is_nccl && !arguments.trace.empty(), "--trace and --backend nccl"),
        std::pair(is_nccl && arguments.graph != 0, "--graph and --backend nccl"),
        std::pair(arguments.graph != 0 && !arguments.trace.empty(), "--graph and --trace"),
        std::pair(arguments.graph != 0 && arguments.is_grid(), "--graph and --all-algos")}) {
    if (is_given) {
      return Error{ErrorCode::InvalidArgument, fmt::format("{} with --device cuda", option),
                   "omit it: it applies to hosts, or to ringside's own kernels"};
    }
  }
  return true;
}

VerbResult run_bench_on_gpu(const BenchArguments& arguments) {
  RINGSIDE_TRY(check_options(arguments));
  RINGSIDE_TRY(const BenchOptions options, bench_options(arguments));
  RINGSIDE_TRY(const JobOptions job, bench_job_options(arguments));
  const int nranks = job.local_ranks.value_or(2);
  if (nranks > kMostDeviceRanks) {
    return Error{ErrorCode::InvalidArgument, fmt::format("-n {} with --device cuda", nranks),
                 fmt::format("{} ranks at most share a GPU", kMostDeviceRanks)};
  }
  RINGSIDE_TRY(check_bench(options, {}));
  RINGSIDE_TRY(const std::unique_ptr<Gpu> gpu, Gpu::open());
  std::unique_ptr<TraceRecorder> trace;
  if (!arguments.trace.empty()) {
    RINGSIDE_TRY(trace, trace_to(arguments.trace, job.command));
  }
  const auto timeout = std::chrono::duration_cast<Nanoseconds>(job.communicator.op_timeout);
  if (!arguments.json) show(head(gpu->facts(), options, nranks));
  RINGSIDE_TRY(const GpuBench bench,
               run_gpu_bench(*gpu, nranks, options, job.communicator.settings, timeout, trace.get(),
                             [&](const GpuBench& so_far) {
                               if (!arguments.json) show(line(so_far, options));
                             }));
  std::int64_t wrong = 0;
  for (const GpuBenchRow& row : bench.rows) wrong += row.wrong;
  if (arguments.json) {
    show(to_text(document(gpu->facts(), bench, options, nranks)));
  } else {
    show(fmt::format(
        "# Out of bounds values : {} {}\n# Copies within the GPU: {:.1f} GB/s, after {} of them "
        "that "
        "warmed its clocks\n",
        wrong, wrong == 0 ? "OK" : "FAILED", in_gbs(bench.copy), format_time(bench.warmed)));
  }
  return wrong == 0 ? kFine : kFinding;
}

}  // namespace ringside::cli
