#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/verb.h"
#include "harness/bench.h"
#include "harness/bench_grid.h"
#include "harness/job.h"

namespace ringside::cli {
namespace {

struct BenchArguments {
  std::string collective;
  std::optional<int> ranks;
  std::string from = "8";
  std::string to = "64M";
  int factor = 2;
  std::string type = "float";
  std::string op = "sum";
  int root = 0;
  int warmup = 5;
  int iterations = 20;
  int check = 1;
  std::string transport;
  std::string algorithm;
  std::string protocol;
  int channels = 0;
  std::string slot;
  int ranks_per_node = 0;
  std::string bind = "auto";
  std::string join_timeout = "8s";
  std::string op_timeout = "60s";
  std::string trace;
  bool all_algorithms = false;
  bool tune = false;
  bool json = false;
};

bool has_root(Collective collective) {
  return collective == Collective::Broadcast || collective == Collective::Reduce ||
         collective == Collective::Gather || collective == Collective::Scatter;
}

bool reduces(Collective collective) {
  return collective == Collective::AllReduce || collective == Collective::ReduceScatter ||
         collective == Collective::Reduce;
}

/// What nccl-tests prints in the redop and root columns.
const char* redop_column(const BenchOptions& bench) {
  return reduces(bench.collective) ? to_string(bench.op) : "none";
}
int root_column(const BenchOptions& bench) {
  return has_root(bench.collective) ? to_int(bench.root) : -1;
}

Result<std::optional<TransportKind>> parse_transport(const std::string& text) {
  if (text.empty()) return std::optional<TransportKind>{};
  for (const TransportKind kind : {TransportKind::Shm, TransportKind::Tcp}) {
    if (text == to_string(kind)) return std::optional(kind);
  }
  constexpr std::array<std::string_view, 2> kKnown{"shm", "tcp"};
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown transport '{}'", text),
               suggestion(text, kKnown)};
}

Status at_least(const char* option, int value, int least, int most) {
  if (value >= least && value <= most) return {};
  return Error{ErrorCode::InvalidArgument, fmt::format("{} {}", option, value),
               fmt::format("give a number from {} to {}", least, most)};
}

Result<BenchOptions> bench_options(const BenchArguments& arguments) {
  BenchOptions bench;
  RINGSIDE_TRY(bench.collective, parse_collective(arguments.collective));
  RINGSIDE_TRY(at_least("-f", arguments.factor, 2, 1 << 20));
  RINGSIDE_TRY(at_least("--warmup", arguments.warmup, 0, 1'000'000));
  RINGSIDE_TRY(at_least("--iters", arguments.iterations, 1, 1'000'000));
  RINGSIDE_TRY(const Bytes from, parse_bytes(arguments.from));
  RINGSIDE_TRY(const Bytes to, parse_bytes(arguments.to));
  RINGSIDE_TRY(bench.sizes, size_range(from, to, static_cast<std::uint64_t>(arguments.factor)));
  RINGSIDE_TRY(bench.type, parse_data_type(arguments.type));
  RINGSIDE_TRY(bench.op, parse_redop(arguments.op));
  bench.root = Rank{arguments.root};
  bench.warmup = arguments.warmup;
  bench.iterations = arguments.iterations;
  bench.check = arguments.check != 0;
  return bench;
}

Result<HostWishes> wishes_of(const BenchArguments& arguments) {
  HostWishes wishes;
  if (!arguments.algorithm.empty()) {
    RINGSIDE_TRY(wishes.algorithm, parse_algorithm(arguments.algorithm));
  }
  if (!arguments.protocol.empty()) {
    RINGSIDE_TRY(wishes.protocol, parse_protocol(arguments.protocol));
  }
  RINGSIDE_TRY(at_least("--channels", arguments.channels, 0, kMaxChannels));
  wishes.nchannels = arguments.channels;
  if (!arguments.slot.empty()) {
    RINGSIDE_TRY(wishes.slot, parse_bytes(arguments.slot));
  }
  return wishes;
}

/// The cores that this process may run on.
std::vector<std::size_t> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<std::size_t> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

/// Binds each rank that this program starts to one core, one after the other. Ranks that share a core so
/// do not wander, which costs a rank that waits for its neighbour more than a fair share gains.
Result<std::function<void(Rank, JobStage)>> binder(const std::string& how, bool starts_ranks) {
  constexpr std::array<std::string_view, 3> kKnown{"auto", "core", "none"};
  if (std::ranges::find(kKnown, how) == kKnown.end()) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--bind {}", how),
                 suggestion(how, kKnown)};
  }
  const std::vector<std::size_t> cores = allowed_cores();
  if (how == "none" || cores.empty() || (how == "auto" && !starts_ranks)) {
    return std::function<void(Rank, JobStage)>{};
  }
  return std::function([cores](Rank rank, JobStage stage) {
    if (stage != JobStage::Bootstrap) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cores[static_cast<std::size_t>(to_int(rank)) % cores.size()], &set);
    // Not being bound costs speed only.
    static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
  });
}

Result<JobOptions> job_options(const BenchArguments& arguments) {
  JobOptions job;
  if (arguments.ranks) RINGSIDE_TRY(at_least("-n", *arguments.ranks, 1, 1024));
  job.local_ranks = arguments.ranks;
  RINGSIDE_TRY(job.join_timeout, parse_time(arguments.join_timeout));
  job.trace_path = arguments.trace;
  job.command = command_line();
  RINGSIDE_TRY(job.communicator.transport, parse_transport(arguments.transport));
  RINGSIDE_TRY(job.communicator.wishes, wishes_of(arguments));
  RINGSIDE_TRY(at_least("--ranks-per-node", arguments.ranks_per_node, 0, 1024));
  job.communicator.ranks_per_node = arguments.ranks_per_node;
  RINGSIDE_TRY(job.on_stage, binder(arguments.bind, arguments.ranks.has_value()));
  job.communicator.connect_timeout = job.join_timeout;
  RINGSIDE_TRY(job.communicator.op_timeout, parse_time(arguments.op_timeout));
  return job;
}

void print_head(const BenchOptions& bench, const Communicator& communicator) {
  fmt::print(
      "# ringside {}: {}, {} ranks over {}, {} warm-up and {} timed runs; time: median over "
      "the runs of the slowest rank\n",
      RINGSIDE_VERSION, to_string(bench.collective), communicator.nranks(),
      communicator.transport(), bench.warmup, bench.iterations);
  fmt::print("#\n#{:>57}{:^35}{:^35}\n", "", "out-of-place", "in-place");
  fmt::print("#{:>12}{:>14}{:>10}{:>8}{:>8}  {:>10}{:>8}{:>8}{:>8}  {:>10}{:>8}{:>8}{:>8}\n",
             "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time",
             "algbw", "busbw", "#wrong");
  fmt::print("#{:>12}{:>14}{:>10}{:>8}{:>8}  {:>10}{:>8}{:>8}{:>8}  {:>10}{:>8}{:>8}\n", "(B)",
             "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)");
}

std::string timing_columns(const std::optional<BenchTiming>& timing, bool checked) {
  if (!timing) return fmt::format("  {:>10}{:>8}{:>8}{:>8}", "N/A", "N/A", "N/A", "N/A");
  return fmt::format("  {:>10.2f}{:>8.2f}{:>8.2f}{:>8}", in_us(timing->median),
                     in_gbs(timing->algbw), in_gbs(timing->busbw),
                     checked ? fmt::to_string(timing->wrong) : "N/A");
}

void print_row(const BenchOptions& bench, const BenchRow& row) {
  fmt::print(" {:>12}{:>14}{:>10}{:>8}{:>8}{}{}  {} {}\n", row.bytes.value, row.count,
             to_string(bench.type), redop_column(bench), root_column(bench),
             timing_columns(row.out_of_place, bench.check),
             timing_columns(row.in_place, bench.check), to_string(row.choice.algorithm),
             to_string(row.choice.protocol));
  std::fflush(stdout);
}

std::int64_t wrong_in(const std::vector<BenchRow>& rows) {
  std::int64_t wrong = 0;
  for (const BenchRow& row : rows) {
    wrong += row.out_of_place.wrong + (row.in_place ? row.in_place->wrong : 0);
  }
  return wrong;
}

bool is_any_modelled(const std::vector<BenchRow>& rows) {
  return std::ranges::any_of(rows,
                             [](const BenchRow& row) { return is_modelled(row.choice.algorithm); });
}

void print_foot(const std::vector<BenchRow>& rows, std::int64_t wrong) {
  double sum = 0;
  int timings = 0;
  for (const BenchRow& row : rows) {
    sum += in_gbs(row.out_of_place.busbw) + (row.in_place ? in_gbs(row.in_place->busbw) : 0);
    timings += row.in_place ? 2 : 1;
  }
  if (is_any_modelled(rows)) {
    fmt::print("# modelled             : hosts have no switch that reduces; copies stand for it\n");
  }
  fmt::print("# Out of bounds values : {} {}\n", wrong, wrong == 0 ? "OK" : "FAILED");
  fmt::print("# Avg bus bandwidth    : {:.5g}\n", sum / timings);
}

Json timing_json(const BenchTiming& timing, bool checked) {
  return {{"time_us", in_us(timing.median)},   {"algbw_gbs", in_gbs(timing.algbw)},
          {"busbw_gbs", in_gbs(timing.busbw)}, {"wrong", checked ? Json(timing.wrong) : Json()},
          {"p95_us", in_us(timing.p95)},       {"min_us", in_us(timing.least)},
          {"max_us", in_us(timing.most)}};
}

Json document(const BenchOptions& bench, const Communicator& communicator,
              const std::vector<BenchRow>& rows) {
  Json results = Json::array();
  for (const BenchRow& row : rows) {
    Json entry = {{"bytes", row.bytes.value},
                  {"count", row.count},
                  {"type", to_string(bench.type)},
                  {"redop", redop_column(bench)},
                  {"root", root_column(bench)}};
    entry.update(timing_json(row.out_of_place, bench.check));
    entry["in_place"] = row.in_place ? timing_json(*row.in_place, bench.check) : Json();
    entry["algorithm"] = to_string(row.choice.algorithm);
    entry["protocol"] = to_string(row.choice.protocol);
    entry["nchannels"] = row.choice.nchannels;
    entry["is_modelled"] = is_modelled(row.choice.algorithm);
    results.push_back(std::move(entry));
  }
  return {{"schema", "ringside.bench/1"},    {"collective", to_string(bench.collective)},
          {"backend", "ringside"},           {"transport", communicator.transport()},
          {"nranks", communicator.nranks()}, {"warmup", bench.warmup},
          {"iterations", bench.iterations},  {"results", std::move(results)}};
}

void print_grid_row(const GridRow& row) {
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const GridCell& cell = row.cells[i];
    fmt::print(" {:>12}  {:<16}{:<8}{:>12.2f}{:>8.2f}  {}{}{}{}\n", row.bytes.value,
               to_string(cell.algorithm), to_string(cell.protocol), in_us(cell.time),
               cell.time / row.cells[row.best].time, row.pick == i ? "pick " : "",
               row.best == i ? "best " : "", is_modelled(cell.algorithm) ? "modelled " : "",
               cell.wrong != 0 ? "WRONG" : "");
  }
  std::fflush(stdout);
}

Json grid_json(const GridRow& row) {
  Json cells = Json::array();
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const GridCell& cell = row.cells[i];
    cells.push_back({{"algorithm", to_string(cell.algorithm)},
                     {"protocol", to_string(cell.protocol)},
                     {"time_us", in_us(cell.time)},
                     {"wrong", cell.wrong},
                     {"is_pick", row.pick == i},
                     {"is_best", row.best == i},
                     {"is_modelled", is_modelled(cell.algorithm)}});
  }
  return {{"bytes", row.bytes.value}, {"is_pick_good", row.is_pick_good()}, {"cells", cells}};
}

/// Every algorithm and protocol, and with --tune the best of them as the user's own table.
Result<int> run_grid(JobRank& rank, const BenchOptions& bench, const BenchArguments& arguments) {
  Communicator& communicator = rank.communicator;
  const bool prints_text = rank.speaks && !arguments.json;
  if (prints_text) {
    fmt::print("# {} among {} ranks over {}; median of {} runs; x: times the best\n",
               to_string(bench.collective), communicator.nranks(), communicator.transport(),
               bench.iterations);
    fmt::print("#{:>12}  {:<16}{:<8}{:>12}{:>8}\n", "size (B)", "algo", "proto", "time (us)", "x");
  }
  RINGSIDE_TRY(const std::vector<GridRow> rows,
               run_bench_grid(communicator, bench, [&](const GridRow& row) {
                 if (prints_text) print_grid_row(row);
               }));
  std::int64_t wrong = 0;
  for (const GridRow& row : rows) {
    for (const GridCell& cell : row.cells) wrong += cell.wrong;
  }
  const auto good = std::ranges::count_if(rows, &GridRow::is_pick_good);
  if (prints_text) fmt::print("# pick within 5 % of the best: {} of {} sizes\n", good, rows.size());
  if (rank.speaks && arguments.json) {
    Json results = Json::array();
    for (const GridRow& row : rows) results.push_back(grid_json(row));
    fmt::print("{}", to_text(Json{{"schema", "ringside.bench-grid/1"},
                                  {"collective", to_string(bench.collective)},
                                  {"transport", communicator.transport()},
                                  {"nranks", communicator.nranks()},
                                  {"good_picks", good},
                                  {"results", std::move(results)}}));
  }
  if (rank.speaks && arguments.tune && wrong == 0) {
    const std::string path = host_table_path();
    if (path.empty()) {
      return Error{ErrorCode::InvalidArgument, "no place for the table",
                   "set XDG_CONFIG_HOME or HOME"};
    }
    RINGSIDE_TRY(HostTable table, load_host_table(path));
    table.replace(rules_of(rows, {.collective = bench.collective,
                                  .has_tcp = communicator.transport() != "shm",
                                  .is_crowded = communicator.layout().is_crowded,
                                  .nranks = communicator.nranks()}));
    RINGSIDE_TRY(save_host_table(table, path));
    if (prints_text) fmt::print("# written to {}\n", path);
  }
  return wrong == 0 ? kFine : kFinding;
}

Result<int> run_rank(JobRank& rank, const BenchOptions& bench, bool json) {
  const bool prints_text = rank.speaks && !json;
  if (prints_text) print_head(bench, rank.communicator);
  RINGSIDE_TRY(const std::vector<BenchRow> rows,
               run_bench(rank.communicator, bench, [&](const BenchRow& row) {
                 if (prints_text) print_row(bench, row);
               }));
  const std::int64_t wrong = wrong_in(rows);
  if (prints_text) print_foot(rows, wrong);
  if (rank.speaks && json) fmt::print("{}", to_text(document(bench, rank.communicator, rows)));
  return wrong == 0 ? kFine : kFinding;
}

Status check_root(const BenchOptions& bench, int nranks) {
  if (to_int(bench.root) >= 0 && to_int(bench.root) < nranks) return {};
  return Error{ErrorCode::InvalidArgument, fmt::format("--root {}", to_int(bench.root)),
               fmt::format("give a rank from 0 to {}", nranks - 1)};
}

VerbResult run(const BenchArguments& arguments) {
  RINGSIDE_TRY(const BenchOptions bench, bench_options(arguments));
  RINGSIDE_TRY(const JobOptions job, job_options(arguments));
  const bool is_grid = arguments.all_algorithms || arguments.tune;
  if (is_grid && (!arguments.algorithm.empty() || !arguments.protocol.empty())) {
    return Error{ErrorCode::InvalidArgument, "--all-algos and --tune time every algorithm",
                 "leave --algo and --proto away"};
  }
  RINGSIDE_TRY(check_bench(bench, job.communicator.wishes));
  return run_job(job, [&](JobRank& rank) -> Result<int> {
    RINGSIDE_TRY(check_root(bench, rank.communicator.nranks()));
    return is_grid ? run_grid(rank, bench, arguments) : run_rank(rank, bench, arguments.json);
  });
}

}  // namespace

Verb bench_verb() {
  return {
      "bench",
      "Time and verify a collective on real processes (nccl-tests' table)",
      {"ringside bench all_reduce -n 4 -b 8 -e 4M -f 4",
       "ringside bench all_gather -n 2 -e 1M --transport tcp --json"},
      [](CLI::App& app) {
        auto arguments = std::make_shared<BenchArguments>();
        BenchArguments& a = *arguments;
        app.add_option("collective", a.collective,
                       "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, "
                       "send_recv, gather, scatter or all_gather_v");
        app.add_option("-n,--ranks", a.ranks,
                       "local processes (default 2; under mpirun, torchrun or Slurm the "
                       "launcher's)");
        app.add_option("-b,--minbytes", a.from, "smallest size")->capture_default_str();
        app.add_option("-e,--maxbytes", a.to, "largest size")->capture_default_str();
        app.add_option("-f,--stepfactor", a.factor, "from size to size")->capture_default_str();
        app.add_option("-d,--datatype", a.type, "element type")->capture_default_str();
        app.add_option("-o,--op", a.op, "reduction: sum, prod, max, min, avg or mulsum")
            ->capture_default_str();
        app.add_option("-r,--root", a.root, "root rank (broadcast, reduce, gather, scatter)")
            ->capture_default_str();
        app.add_option("-w,--warmup", a.warmup, "runs before the clock starts")
            ->capture_default_str();
        app.add_option("--iters", a.iterations, "timed runs a size")->capture_default_str();
        app.add_option("-c,--check", a.check, "verify every element: 1 or 0")
            ->capture_default_str();
        app.add_option("--transport", a.transport,
                       "shm or tcp (default: shm within a host, tcp between hosts)");
        app.add_option("--algo", a.algorithm,
                       "ring, tree, pat, nvls, nvls_tree, collnet_direct, collnet_chain, "
                       "one_shot or two_shot (default: tuned)");
        app.add_option("--proto", a.protocol, "ll, ll128 or simple (default: tuned)");
        app.add_flag("--all-algos", a.all_algorithms,
                     "time every algorithm and protocol, and mark the pick");
        app.add_flag("--tune", a.tune, "the same, and keep the best of each size for this user");
        app.add_option("--ranks-per-node", a.ranks_per_node,
                       "play nodes of so many ranks (default: hosts are nodes)");
        app.add_option("--bind", a.bind, "ranks to cores: auto (with -n), core or none")
            ->capture_default_str();
        app.add_option("--channels", a.channels, "most channels to use (default: tuned)");
        app.add_option("--slot", a.slot, "bytes of one of a connection's 8 slots (default: tuned)");
        app.add_option("--timeout", a.join_timeout,
                       "how long the next rank may take to join or connect")
            ->capture_default_str();
        app.add_option("--op-timeout", a.op_timeout,
                       "a collective in which nothing moves for so long fails")
            ->capture_default_str();
        app.add_option("--trace", a.trace, "record every primitive into this .rtrace file");
        app.add_flag("--json", a.json, "one JSON document on stdout");
        return [arguments] { return run(*arguments); };
      }};
}

}  // namespace ringside::cli
