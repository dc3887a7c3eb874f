#include "cli/bench/bench_arguments.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/suggest.h"
#include "base/text.h"
#include "cli/bench/bench_shapes.h"
#include "cli/command_line.h"
#include "cli/options.h"
#include "engine/runtime/bootstrap/launch.h"
#include "engine/transport/transport.h"
#include "harness/rank_binder.h"
#include "study/calls.h"

namespace ringside::cli {
namespace {

constexpr int kMostLocalRanks = 1024;  // of one machine or node

/// "shm (ranks of one host) or tcp (any ranks); default: the first of these that joins two ranks"
std::string transport_help() {
  std::string text;
  for (const std::string_view name : transport_names()) {
    text +=
        fmt::format("{}{} ({})", text.empty() ? "" : " or ", name, (*parse_transport(name))->joins);
  }
  return text + "; default: the first of these that joins two ranks";
}

/// errors  InvalidArgument: the value is below `least` or above `most`
Status check_number(const char* option, int value, int least, int most) {
  if (value >= least && value <= most) return {};
  return Error{ErrorCode::InvalidArgument, fmt::format("{} {}", option, value),
               fmt::format("give a number from {} to {}", least, most)};
}

/// Returns the number of verified runs, which nccl-tests takes.
Result<int> parse_check(const std::string& text, int iterations) {
  if (text == "off") return 0;
  if (text == "last") return 1;
  if (text == "every") return iterations;
  if (const auto runs = parse_int(text); runs && *runs >= 0 && *runs <= 1'000'000)
    return static_cast<int>(*runs);
  constexpr std::array<std::string_view, 3> kKnown{"off", "last", "every"};
  return Error{ErrorCode::InvalidArgument, fmt::format("--check {}", text),
               suggestion(text, kKnown) + "; or a number of runs from 0 to 1000000"};
}

Result<CallSettings> call_settings(const BenchArguments& arguments) {
  CallSettings settings;
  if (!arguments.algorithm.empty()) {
    RINGSIDE_TRY(settings.algorithm, parse_algorithm(arguments.algorithm));
  }
  if (!arguments.protocol.empty()) {
    RINGSIDE_TRY(settings.protocol, parse_protocol(arguments.protocol));
  }
  RINGSIDE_TRY(check_number("--channels", arguments.channels, 0, kMaxChannels));
  settings.nchannels = arguments.channels;
  if (!arguments.slot.empty()) {
    RINGSIDE_TRY(settings.slot, parse_bytes(arguments.slot));
  }
  return settings;
}

/// Returns the sizes from -b to -e, by the factor of -f or in steps of -i.
Result<std::vector<Bytes>> sizes_of(const BenchArguments& arguments) {
  RINGSIDE_TRY(check_number("-f", arguments.factor_or_default(), 2, 1 << 20));
  RINGSIDE_TRY(const Bytes from, parse_bytes(arguments.from));
  RINGSIDE_TRY(const Bytes to, parse_bytes(arguments.to));
  if (arguments.step.empty())
    return size_range(from, to, static_cast<std::uint64_t>(arguments.factor_or_default()));
  RINGSIDE_TRY(const Bytes step, parse_bytes(arguments.step));
  if (arguments.factor) {
    return Error{ErrorCode::InvalidArgument, "-i and -f: sizes grow by bytes or by a factor",
                 "give one of them"};
  }
  constexpr std::uint64_t kMostSizes = 10'000;
  const bool is_range = from <= to && step.value > 0 && (to - from).value / step.value < kMostSizes;
  if (!is_range) {
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("sizes from {} to {} by {}", format_bytes(from), format_bytes(to),
                    format_bytes(step)),
        fmt::format("give the smaller size first, and a step above 0 that makes at most {} "
                    "sizes; iterations are --iters",
                    kMostSizes)};
  }
  std::vector<Bytes> sizes;
  for (std::uint64_t size = from.value; size <= to.value; size += step.value) {
    sizes.push_back(Bytes{size});
    if (to.value - size < step.value) break;
  }
  return sizes;
}

/// Converts -t threads with -g GPUs each to a number of ranks, which are processes here.
/// returns  the ranks that they make; nothing: neither is given, or a launcher starts the ranks
Result<std::optional<int>> ranks_of_threads(const BenchArguments& arguments) {
  if (!arguments.threads && !arguments.gpus) return std::optional<int>();
  const int threads = arguments.threads.value_or(1);
  const int gpus = arguments.gpus.value_or(1);
  RINGSIDE_TRY(check_number("-t", threads, 1, kMostLocalRanks));
  RINGSIDE_TRY(check_number("-g", gpus, 1, kMostLocalRanks));
  if (arguments.ranks) {
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("-n {} and -t or -g: -n is the number of ranks here", *arguments.ranks),
        fmt::format("omit one; the iterations of nccl-tests' -n are --iters {}", *arguments.ranks)};
  }
  RINGSIDE_TRY(const std::optional<LaunchInfo> launched, launch_from_environment());
  if (!launched || launched->nranks == 1) return std::optional(threads * gpus);
  if (threads * gpus == 1) return std::optional<int>();
  return Error{ErrorCode::InvalidArgument,
               fmt::format("-t {} -g {} under {}: each process is one rank", threads, gpus,
                           to_string(launched->launcher)),
               fmt::format("omit them, and start {} times as many processes", threads * gpus)};
}

/// Checks that no option is given for which the output of another benchmark has no place.
Status check_shape(const BenchArguments& arguments) {
  if (arguments.like.empty() && arguments.nccl_tests_file.empty()) return {};
  const char* option = arguments.like.empty() ? "-J" : "--like";
  const bool is_like = !arguments.like.empty();
  for (const auto& [is_given, other] : {std::pair(arguments.is_grid(), "--all-algos or --tune"),
                                        std::pair(!arguments.overlap.empty(), "--overlap"),
                                        std::pair(is_like && arguments.json, "--json"),
                                        std::pair(is_like && arguments.csv, "--csv"),
                                        std::pair(is_like && arguments.expects, "--expect")}) {
    if (is_given) {
      return Error{ErrorCode::InvalidArgument, fmt::format("{} and {}", option, other),
                   "give one of them"};
    }
  }
  return {};
}

Result<bool> parse_buffers(const std::string& text) {
  if (text == "shared") return true;
  if (text == "private") return false;
  return Error{ErrorCode::InvalidArgument, fmt::format("--buffers {}", text),
               "give shared or private"};
}

/// Creates the folder if it does not exist: an error now is better than one at the time of writing.
Result<std::string> dump_folder(const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return path;
  return Error{ErrorCode::InvalidArgument, fmt::format("--dumps {}: {}", path, error.message()),
               "give a folder"};
}

}  // namespace

Result<BenchOptions> bench_options(const BenchArguments& arguments) {
  BenchOptions bench;
  RINGSIDE_TRY(bench.collective, parse_collective(arguments.collective));
  RINGSIDE_TRY(check_shape(arguments));
  RINGSIDE_TRY(parse_shape(arguments.like, bench.collective));
  if (!arguments.nccl_tests_file.empty()) RINGSIDE_TRY(check_nccl_tests(bench.collective));
  RINGSIDE_TRY(check_number("--warmup", arguments.warmup, 0, 1'000'000));
  RINGSIDE_TRY(check_number("--iters", arguments.iterations, 1, 1'000'000));
  RINGSIDE_TRY(bench.sizes, sizes_of(arguments));
  RINGSIDE_TRY(bench.type, parse_data_type(arguments.type));
  RINGSIDE_TRY(study::check_sizes(bench.sizes, bench.type));
  RINGSIDE_TRY(bench.op, parse_redop(arguments.op));
  bench.root = Rank{arguments.root};
  bench.warmup = arguments.warmup;
  bench.iterations = arguments.iterations;
  RINGSIDE_TRY(check_number("--graph", arguments.graph, 0, 10'000));
  bench.graph = arguments.graph;
  bench.expects = arguments.expects;
  RINGSIDE_TRY(bench.checks, parse_check(arguments.check, arguments.iterations));
  RINGSIDE_TRY(bench.shares_memory, parse_buffers(arguments.buffers));
  return bench;
}

Result<OverlapOptions> overlap_options(const BenchArguments& arguments) {
  OverlapOptions overlap;
  RINGSIDE_TRY(overlap.compute, parse_time(arguments.overlap));
  RINGSIDE_TRY(overlap.gradients, parse_bytes(arguments.to));
  RINGSIDE_TRY(overlap.bucket_cap, parse_bytes(arguments.bucket_cap));
  RINGSIDE_TRY(check_number("--layers", arguments.layers, 1, 100'000));
  overlap.layers = arguments.layers;
  overlap.iterations = arguments.iterations;
  RINGSIDE_TRY(overlap.shares_memory, parse_buffers(arguments.buffers));
  if (arguments.collective == "all_reduce" && !arguments.csv && arguments.plot.empty()) {
    return overlap;
  }
  return Error{ErrorCode::InvalidArgument,
               "--overlap reduces gradients: it has no other collective, "
               "no --csv and no --plot",
               "ringside bench all_reduce -n 2 -e 64M --overlap 20ms"};
}

Result<JobOptions> bench_job_options(const BenchArguments& arguments) {
  if (arguments.json && arguments.csv) {
    return Error{ErrorCode::InvalidArgument, "--json and --csv", "give one of them"};
  }
  if (arguments.is_grid() && (!arguments.algorithm.empty() || !arguments.protocol.empty())) {
    return Error{ErrorCode::InvalidArgument, "--all-algos and --tune time every algorithm",
                 "omit --algo and --proto"};
  }
  JobOptions job;
  if (arguments.ranks) RINGSIDE_TRY(check_number("-n", *arguments.ranks, 1, kMostLocalRanks));
  RINGSIDE_TRY(const std::optional<int> of_threads, ranks_of_threads(arguments));
  if (of_threads) RINGSIDE_TRY(check_number("-t times -g", *of_threads, 1, kMostLocalRanks));
  job.local_ranks = of_threads ? of_threads : arguments.ranks;
  RINGSIDE_TRY(job.join_timeout, parse_time(arguments.join_timeout));
  job.trace_path = arguments.trace;
  job.command = command_line();
  if (!arguments.transport.empty()) {
    RINGSIDE_TRY(job.communicator.host.transport, parse_transport(arguments.transport));
  }
  RINGSIDE_TRY(job.communicator.settings, call_settings(arguments));
  RINGSIDE_TRY(check_number("--ranks-per-node", arguments.ranks_per_node, 0, kMostLocalRanks));
  job.communicator.host.ranks_per_node = arguments.ranks_per_node;
  RINGSIDE_TRY(job.on_stage, rank_binder(arguments.bind, job.local_ranks.has_value()));
  RINGSIDE_TRY(job.faults, fault_plan_of(arguments.faults));
  if (arguments.status_port) {
    RINGSIDE_TRY(check_number("--status", *arguments.status_port, 1, 65535));
    job.status_port = static_cast<std::uint16_t>(*arguments.status_port);
  }
  RINGSIDE_TRY(job.dumps, dump_folder(arguments.dumps));
  job.overwrites_files = arguments.is_forced;
  job.communicator.connect_timeout = job.join_timeout;
  RINGSIDE_TRY(job.communicator.op_timeout, parse_time(arguments.op_timeout));
  return job;
}

void declare_bench(Options& app, BenchArguments& a) {
  app.add_option("collective", a.collective,
                 "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, "
                 "send_recv, gather, scatter or all_gather_v");
  app.add_option("-n,--ranks", a.ranks,
                 "local processes (default 2; under mpirun, torchrun or Slurm the "
                 "launcher's)");
  app.add_option("-b,--minbytes", a.from, "smallest size")->capture_default_str();
  app.add_option("-e,--maxbytes", a.to, "largest size")->capture_default_str();
  app.add_option("-f,--stepfactor", a.factor, "from size to size (default: 2)");
  app.add_option("-i,--stepbytes", a.step,
                 "bytes from size to size, in place of -f (iterations are --iters)");
  app.add_option("-t,--nthreads", a.threads,
                 "with -g in place of -n, as nccl-tests takes them: -t times -g ranks, which are "
                 "processes here");
  app.add_option("-g,--ngpus", a.gpus, "see -t");
  app.add_option("-d,--datatype", a.type, "element type")->capture_default_str();
  app.add_option("-o,--op", a.op, "reduction: sum, prod, max, min, avg or mulsum")
      ->capture_default_str();
  app.add_option("-r,--root", a.root, "root rank (broadcast, reduce, gather, scatter)")
      ->capture_default_str();
  app.add_option("-w,--warmup", a.warmup, "runs before the clock starts")->capture_default_str();
  app.add_option("--iters", a.iterations, "timed runs a size")->capture_default_str();
  app.add_option("-c,--check", a.check,
                 "verify every element behind the timed runs: off (0), last (1: of one more run), "
                 "every (of "
                 "as many runs as were timed), or a number of runs")
      ->capture_default_str();
  app.add_option("--buffers", a.buffers,
                 "shared: ranks of a host read and write them in place (ncclMemAlloc's are so); "
                 "private: ordinary memory, copied through slots")
      ->capture_default_str();
  app.add_option("--transport", a.transport, transport_help());
  app.add_option("--device", a.device,
                 "host: ranks are processes; cuda: they share one GPU, in one kernel, unless a "
                 "launcher has started them or --processes is given")
      ->capture_default_str();
  app.add_flag("--processes", a.processes,
               "with --device cuda: ranks are processes with kernels of their own, the first on "
               "the host's first GPU and so on, round-robin if there are fewer");
  app.add_option(
      "--graph", a.graph,
      "with --device cuda: time calls in a CUDA graph of this many, instead of one by one");
  app.add_option("--backend", a.backend,
                 "ringside, or another library: mpi, gloo, torch (PyTorch's gloo) or torch:NAME "
                 "(its backend "
                 "NAME); nccl: with --device cuda, by the libnccl.so.2 of this host")
      ->capture_default_str();
  app.add_option("--algo", a.algorithm,
                 fmt::format("{} (default: tuned). one_shot: each rank reads the inputs of all; "
                             "two_shot: each rank reduces its part of all inputs, then reads the "
                             "other parts",
                             fmt::join(algorithm_names(), ", ")));
  app.add_option("--proto", a.protocol, "ll, ll128 or simple (default: tuned)");
  app.add_flag("--all-algos", a.all_algorithms,
               "time every algorithm and protocol, and mark the pick");
  app.add_flag("--tune", a.tune, "the same, and keep the best of each size for this user");
  app.add_flag("--expect", a.expects,
               "also print what the links between the ranks allow, which are measured first");
  app.add_option("--ranks-per-node", a.ranks_per_node,
                 "play nodes of this many ranks (default: hosts are nodes)");
  app.add_option("--bind", a.bind, "ranks to cores: auto (with -n), core or none")
      ->capture_default_str();
  app.add_option("--channels", a.channels, "most channels to use (default: tuned)");
  app.add_option("--slot", a.slot, "bytes of one of a connection's 8 slots (default: tuned)");
  app.add_option("--timeout", a.join_timeout, "how long the next rank may take to join or connect")
      ->capture_default_str();
  app.add_option("--op-timeout", a.op_timeout,
                 "time without progress after which a collective fails")
      ->capture_default_str();
  app.add_option(
      "--overlap", a.overlap,
      "reduce -e bytes of gradients in buckets, as DDP does, during a backward pass that takes "
      "so long, such as 20ms: how much communication is exposed");
  app.add_option("--layers", a.layers, "of --overlap's backward pass")->capture_default_str();
  app.add_option("--bucket-cap", a.bucket_cap, "of --overlap, as bucket_cap_mb")
      ->capture_default_str();
  add_fault_options(app, a.faults);
  app.add_option("--dumps", a.dumps,
                 "when a call fails, every rank writes its last calls into this folder: for "
                 "ringside hang");
  app.add_option(
      "--status", a.status_port,
      "a port of this host's loopback where the job reports its progress, as NCCL's RAS does: "
      "for ringside attach");
  app.add_output("--trace", a.trace, ContentKind::Trace,
                 "record every primitive into this .rtrace file; %h is the host, %p the process",
                 {.is_pattern = true});
  app.add_output("--plot", a.plot, ContentKind::Svg,
                 "draw time and busbw over size into this SVG file");
  app.add_option("--like", a.like,
                 "print the table of nccl-tests, or the one of osu (OSU micro-benchmarks): their "
                 "columns and nothing else, with average times");
  app.add_output("-J,--output_file", a.nccl_tests_file, ContentKind::OtherJson,
                 "also write the JSON document that nccl-tests writes with -J (version 3)");
  app.add_flag("--csv", a.csv, "comma-separated values on stdout");
  app.add_flag("--json", a.json, "one JSON document on stdout");
}

}  // namespace ringside::cli
