#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/job_options.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "engine/tuning/parameters.h"
#include "sim/job_network.h"
#include "sim/tuned.h"

namespace ringside::cli {
namespace {

struct SimArguments {
  std::string collective;
  std::string sizes = "8:1G:2";
  JobOptions job;
  std::string type = "float";
  std::string algorithm;
  std::string protocol;
  int channels = 0;  // 0: NCCL's choice
  std::string fidelity = "chunk";
  std::string trace;
  bool json = false;
};

/// What is to be simulated, all of it checked.
struct SimPlan {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  std::vector<Bytes> sizes;
  TopologyParameters topology;
  Job job;
  Tuner tuner;
  Channels channels;
};

struct SimRow {
  CallShape call;
  Bytes bytes;
  SimTuned tuned;
  SimResult result;
  SimLink busiest;
  BytesPerSecond algbw;
  BytesPerSecond busbw;
};

Status check_fidelity(const std::string& text) {
  constexpr std::array<std::string_view, 1> kKnown{"chunk"};
  if (text == kKnown[0]) return {};
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown fidelity '{}'", text),
               suggestion(text, kKnown)};
}

/// --algo and --proto are NCCL_ALGO and NCCL_PROTO: what NCCL cannot do, it says why not.
Result<std::vector<std::string>> settings_of(const SimArguments& arguments, Collective collective) {
  std::vector<std::string> settings = arguments.job.set;
  const bool is_forced = !arguments.algorithm.empty() || !arguments.protocol.empty();
  if (is_forced && is_point_to_point(collective)) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--algo and --proto with {}", to_string(collective)),
                 "it is made of sends and receives, by Simple"};
  }
  if (!arguments.algorithm.empty()) {
    RINGSIDE_TRY(const Algorithm algorithm, parse_algorithm(arguments.algorithm));
    settings.push_back(fmt::format("NCCL_ALGO={}", nccl_name(algorithm)));
  }
  if (!arguments.protocol.empty()) {
    RINGSIDE_TRY(const Protocol protocol, parse_protocol(arguments.protocol));
    settings.push_back(fmt::format("NCCL_PROTO={}", nccl_name(protocol)));
  }
  return settings;
}

Result<SimPlan> make_plan(const SimArguments& arguments) {
  RINGSIDE_TRY(const Collective collective, parse_collective(arguments.collective));
  RINGSIDE_TRY(const DataType type, parse_data_type(arguments.type));
  RINGSIDE_TRY(std::vector<Bytes> sizes, parse_size_range(arguments.sizes));
  RINGSIDE_TRY(check_fidelity(arguments.fidelity));
  if (collective == Collective::Send || collective == Collective::Recv) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} alone has no other end", to_string(collective)),
                 "simulate send_recv: each rank sends to the next one"};
  }
  if (!arguments.trace.empty() && sizes.size() != 1) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--trace with {} sizes", sizes.size()),
                 "a trace holds one simulation: give --bytes one size"};
  }
  RINGSIDE_TRY(const std::vector<std::string> settings, settings_of(arguments, collective));
  RINGSIDE_TRY(const Environment environment, environment_with(settings));
  RINGSIDE_TRY(const TopologyParameters topology, parse_topology_parameters(environment));
  RINGSIDE_TRY(const TuningParameters tuning, parse_tuning_parameters(environment));
  RINGSIDE_TRY(Job job, job_of(arguments.job, environment));
  RINGSIDE_TRY(Tuner tuner, Tuner::make(job.connection.shape, tuning));
  Channels channels = channels_of(job);
  if (arguments.channels < 0 || arguments.channels > channels.count()) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--channels {}", arguments.channels),
                 fmt::format("this job has {}: give 1 to {}", channels.count(), channels.count())};
  }
  return SimPlan{collective,         type,           std::move(sizes),
                 topology,           std::move(job), std::move(tuner),
                 std::move(channels)};
}

Result<SimRow> simulate_size(const SimPlan& plan, const SimArguments& arguments, Bytes size) {
  const int n = plan.job.nranks();
  const auto shape_of = [&](std::int64_t count) {
    CallShape call{.count = count, .type = plan.type};
    if (plan.collective == Collective::AllGatherV) {
      call.counts.assign(static_cast<std::size_t>(n), count);
    }
    return call;
  };
  const Bytes one_each = call_bytes(plan.collective, shape_of(1), n);
  SimRow row;
  row.call = shape_of(static_cast<std::int64_t>(size.value / one_each.value));
  row.bytes = call_bytes(plan.collective, row.call, n);
  RINGSIDE_TRY(
      row.tuned,
      tune(plan.tuner, {.collective = plan.collective, .bytes = row.bytes, .type = plan.type}));
  if (arguments.channels > 0) row.tuned.choice.nchannels = arguments.channels;

  Progress progress("simulating " + format_bytes(row.bytes));
  const JobNetwork network(plan.job, row.tuned.graph, plan.topology);
  SimRequest request{.network = &network,
                     .channels = plan.channels,
                     .choice = row.tuned.choice,
                     .call = row.call,
                     .costs = row.tuned.costs,
                     .trace_path = arguments.trace,
                     .trace_label = arguments.job.on};
  if (::isatty(STDERR_FILENO) != 0) request.progress = [&](double share) { progress.show(share); };
  RINGSIDE_TRY(row.result, simulate(request));
  if (row.result.busiest_link >= 0) row.busiest = network.link(row.result.busiest_link);
  row.algbw = row.bytes / row.result.time;
  row.busbw = row.algbw * busbw_factor(plan.collective, n);
  return row;
}

double busy_share(const SimRow& row) { return row.result.busiest / row.result.time; }

void print_head(const SimPlan& plan, const SimArguments& arguments) {
  const CommShape& shape = plan.job.connection.shape;
  fmt::print("# {} simulated on {}: {} rank{}, {} node{}\n", to_string(plan.collective),
             arguments.job.on, shape.nranks, shape.nranks == 1 ? "" : "s", shape.nnodes,
             shape.nnodes == 1 ? "" : "s");
  constexpr std::string_view kHead =
      "#{:>12}{:>13}{:>10}{:>15}{:>9}{:>9}{:>13}{:>13}{:>9}{:>9}{:>9}{:>12}{:>8}\n";
  fmt::print(kHead, "size", "count", "type", "algorithm", "protocol", "channels", "time", "NCCL's",
             "algbw", "busbw", "busiest", "events", "wall");
  fmt::print(kHead, "(B)", "(elements)", "", "", "", "", "(us)", "model (us)", "(GB/s)", "(GB/s)",
             "link (%)", "(transfers)", "(s)");
}

void print_row(const SimRow& row) {
  const Choice& choice = row.tuned.choice;
  const std::string predicted =
      row.tuned.prediction ? fmt::format("{:.2f}", row.tuned.prediction->time_us) : "-";
  fmt::print(
      " {:>12}{:>13}{:>10}{:>15}{:>9}{:>9}{:>13.2f}{:>13}{:>9.2f}{:>9.2f}{:>9.0f}{:>12}{:>8.2f}\n",
      row.bytes.value, row.call.count, to_string(row.call.type), to_string(choice.algorithm),
      to_string(choice.protocol), choice.nchannels, in_us(row.result.time), predicted,
      in_gbs(row.algbw), in_gbs(row.busbw), 100 * busy_share(row), row.result.transfers,
      row.result.wall.count());
  std::fflush(stdout);
}

/// What the best row gets out of the links, and what is in its way.
std::string perspective(const std::vector<SimRow>& rows) {
  const SimRow& best = *std::max_element(
      rows.begin(), rows.end(), [](const SimRow& a, const SimRow& b) { return a.busbw < b.busbw; });
  if (best.result.busiest_link < 0) return "# no bytes crossed a link";
  constexpr double kMostly = 0.5;
  return fmt::format(
      "# best: {} at {} B, where {} limits; the busiest link, {} with {}, carries for "
      "{:.0f} % of the time",
      format_bandwidth(best.busbw), best.bytes.value,
      busy_share(best) < kMostly ? "latency" : "bandwidth", best.busiest.name,
      format_bandwidth(best.busiest.rate), 100 * busy_share(best));
}

Json result_document(const SimRow& row) {
  const Choice& choice = row.tuned.choice;
  Json document{{"bytes", row.bytes.value},
                {"count", row.call.count},
                {"type", to_string(row.call.type)},
                {"algorithm", to_string(choice.algorithm)},
                {"protocol", to_string(choice.protocol)},
                {"nchannels", choice.nchannels},
                {"chunk_bytes", choice.chunk.value},
                {"time_us", in_us(row.result.time)},
                {"predicted_us", nullptr},
                {"algbw_gbs", in_gbs(row.algbw)},
                {"busbw_gbs", in_gbs(row.busbw)},
                {"busiest_link", nullptr},
                {"events", row.result.transfers},
                {"wall_s", row.result.wall.count()}};
  if (row.tuned.prediction) document["predicted_us"] = row.tuned.prediction->time_us;
  if (row.result.busiest_link >= 0) {
    document["busiest_link"] = {{"name", row.busiest.name},
                                {"bandwidth_gbs", in_gbs(row.busiest.rate)},
                                {"busy_us", in_us(row.result.busiest)}};
  }
  return document;
}

Json document(const SimPlan& plan, const SimArguments& arguments, const std::vector<SimRow>& rows) {
  Json results = Json::array();
  int nchannels = 0;
  for (const SimRow& row : rows) {
    nchannels = std::max(nchannels, row.tuned.choice.nchannels);
    results.push_back(result_document(row));
  }
  return {{"schema", "ringside.sim/1"},     {"collective", to_string(plan.collective)},
          {"on", arguments.job.on},         {"nodes", plan.job.connection.shape.nnodes},
          {"nranks", plan.job.nranks()},    {"nchannels", nchannels},
          {"fidelity", arguments.fidelity}, {"results", std::move(results)}};
}

VerbResult run(const SimArguments& arguments) {
  RINGSIDE_TRY(const SimPlan plan, make_plan(arguments));
  std::vector<SimRow> rows;
  for (const Bytes size : plan.sizes) {
    RINGSIDE_TRY(SimRow row, simulate_size(plan, arguments, size));
    if (!arguments.json) {
      if (rows.empty()) print_head(plan, arguments);
      print_row(row);
    }
    rows.push_back(std::move(row));
  }
  if (arguments.json) {
    fmt::print("{}", to_text(document(plan, arguments, rows)));
  } else {
    fmt::print("{}\n", perspective(rows));
  }
  return kFine;
}

}  // namespace

Verb sim_verb() {
  return {
      "sim",
      "Simulate a collective on a cluster that need not be there",
      {"ringside sim all_reduce --bytes 1G --on dgx-h100 --nodes 2",
       "ringside sim all_gather --bytes 1M:64M:8 --on dgx-h100 --nodes 2 --algo ring --json"},
      [](CLI::App& app) {
        auto arguments = std::make_shared<SimArguments>();
        SimArguments& a = *arguments;
        app.add_option("collective", a.collective,
                       "all_reduce, all_gather, all_to_all, ...: any but send and recv alone")
            ->required();
        app.add_option("-b,--bytes", a.sizes,
                       "size, or from:to:factor; of the larger buffer of a rank")
            ->capture_default_str();
        add_job_options(app, a.job);
        app.add_option("-t,--type,-d,--datatype", a.type, "element type")->capture_default_str();
        app.add_option("--algo", a.algorithm, "algorithm (default: NCCL's choice)");
        app.add_option("--proto", a.protocol, "protocol (default: NCCL's choice)");
        app.add_option("--channels", a.channels, "channels to use (default: NCCL's choice)");
        app.add_option("--fidelity", a.fidelity, "chunk: each chunk is a flow of its own")
            ->capture_default_str();
        app.add_option("--trace", a.trace,
                       "record every primitive into this .rtrace file (one size only)");
        app.add_flag("--json", a.json, "one JSON document on stdout");
        return [arguments] { return run(*arguments); };
      }};
}

}  // namespace ringside::cli
