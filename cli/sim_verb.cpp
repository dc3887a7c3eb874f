#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/verb.h"
#include "engine/channels/bounds.h"
#include "sim/simulate.h"

namespace ringside::cli {
namespace {

struct SimArguments {
  std::string collective;
  std::string sizes = "8:1G:2";
  std::string on;
  int nodes = 1;
  std::string type = "float";
  int channels = 0;  // 0: as many as the size feeds
  std::string fidelity = "chunk";
  std::string trace;
  bool json = false;
};

/// What is to be simulated, all of it checked.
struct SimPlan {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  std::vector<Bytes> sizes;
  Cluster cluster;
  Channels channels;
};

struct SimRow {
  CallShape call;
  Bytes bytes;
  Choice choice;
  SimResult result;
  BytesPerSecond algbw;
  BytesPerSecond busbw;
};

Status check_fidelity(const std::string& text) {
  constexpr std::array<std::string_view, 1> kKnown{"chunk"};
  if (text == kKnown[0]) return {};
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown fidelity '{}'", text),
               suggestion(text, kKnown)};
}

Result<SimPlan> make_plan(const SimArguments& arguments) {
  SimPlan plan;
  RINGSIDE_TRY(plan.collective, parse_collective(arguments.collective));
  RINGSIDE_TRY(plan.type, parse_data_type(arguments.type));
  RINGSIDE_TRY(plan.sizes, parse_size_range(arguments.sizes));
  RINGSIDE_TRY(check_fidelity(arguments.fidelity));
  RINGSIDE_TRY(NodeType node, load_node(arguments.on));
  RINGSIDE_TRY(plan.cluster, make_cluster(std::move(node), arguments.nodes));
  plan.channels = cluster_channels(plan.cluster);
  if (arguments.channels < 0 || arguments.channels > plan.channels.count()) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--channels {}", arguments.channels),
                 fmt::format("{} x {} has {}: give 1 to {}", plan.cluster.nodes,
                             plan.cluster.node.name, plan.channels.count(), plan.channels.count())};
  }
  if (!arguments.trace.empty() && plan.sizes.size() != 1) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--trace with {} sizes", plan.sizes.size()),
                 "a trace holds one simulation: give --bytes one size"};
  }
  return plan;
}

/// A note on a terminal for what takes longer than a second; it leaves no line behind.
class ProgressNote {
 public:
  explicit ProgressNote(Bytes bytes) : bytes_(bytes) {}
  ~ProgressNote() {
    if (is_shown_) std::fputs("\r\033[K", stderr);
  }
  ProgressNote(const ProgressNote&) = delete;
  ProgressNote& operator=(const ProgressNote&) = delete;

  void show(double share) {
    if (std::chrono::steady_clock::now() - begin_ < std::chrono::seconds{1}) return;
    fmt::print(stderr, "\rsimulating {}: {:3.0f} %\033[K", format_bytes(bytes_), share * 100);
    std::fflush(stderr);
    is_shown_ = true;
  }

 private:
  Bytes bytes_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool is_shown_ = false;
};

Result<SimRow> simulate_size(const SimPlan& plan, const SimArguments& arguments, Bytes size) {
  const int n = plan.cluster.nranks();
  const Bytes one_each = call_bytes(plan.collective, {.count = 1, .type = plan.type}, n);
  SimRow row;
  row.call = {.count = static_cast<std::int64_t>(size.value / one_each.value), .type = plan.type};
  row.bytes = call_bytes(plan.collective, row.call, n);
  row.choice = choose_simulated(plan.cluster, plan.collective, row.bytes);
  if (arguments.channels > 0) row.choice.nchannels = arguments.channels;

  ProgressNote note{row.bytes};
  SimRequest request{.cluster = plan.cluster,
                     .channels = plan.channels,
                     .choice = row.choice,
                     .call = row.call,
                     .trace_path = arguments.trace};
  if (isatty(STDERR_FILENO) != 0) request.progress = [&](double share) { note.show(share); };
  RINGSIDE_TRY(row.result, simulate(request));
  row.algbw = row.bytes / row.result.time;
  row.busbw = row.algbw * busbw_factor(plan.collective, n);
  return row;
}

void print_head(const SimPlan& plan) {
  fmt::print("# {} simulated on {} x {}, {} ranks: ring, simple\n", to_string(plan.collective),
             plan.cluster.nodes, plan.cluster.node.name, plan.cluster.nranks());
  fmt::print("#{:>12}{:>14}{:>10}{:>10}{:>14}{:>9}{:>9}{:>12}{:>9}\n", "size", "count", "type",
             "channels", "time", "algbw", "busbw", "events", "wall");
  fmt::print("#{:>12}{:>14}{:>10}{:>10}{:>14}{:>9}{:>9}{:>12}{:>9}\n", "(B)", "(elements)", "", "",
             "(us)", "(GB/s)", "(GB/s)", "(transfers)", "(s)");
}

void print_row(const SimRow& row) {
  fmt::print(" {:>12}{:>14}{:>10}{:>10}{:>14.2f}{:>9.2f}{:>9.2f}{:>12}{:>9.2f}\n", row.bytes.value,
             row.call.count, to_string(row.call.type), row.choice.nchannels, in_us(row.result.time),
             in_gbs(row.algbw), in_gbs(row.busbw), row.result.transfers, row.result.wall.count());
  std::fflush(stdout);
}

/// What the best row gets out of the links, and which of them is in the way.
std::string perspective(const SimPlan& plan, const std::vector<SimRow>& rows) {
  const SimRow& best = *std::max_element(
      rows.begin(), rows.end(), [](const SimRow& a, const SimRow& b) { return a.busbw < b.busbw; });
  if (best.busbw.value <= 0) return "# no bytes crossed a link";
  const NodeType& node = plan.cluster.node;
  const RingBounds bounds = ring_bounds(plan.cluster, plan.channels, best.choice.nchannels);
  const bool nics_limit = bounds.nics < bounds.gpu_links;
  const BytesPerSecond limit = nics_limit ? bounds.nics : bounds.gpu_links;
  const std::string links =
      nics_limit ? fmt::format("NICs ({} a node, {} each)", node.nics(),
                               format_bandwidth(node.nic_bandwidth()))
                 : fmt::format("GPU links ({} each)", format_bandwidth(node.gpu_link));
  return fmt::format(
      "# best: {} at {} B, {:.0f} % of the {} at which {} channels fill the {}, the limiting links",
      format_bandwidth(best.busbw), best.bytes.value, 100 * best.busbw.value / limit.value,
      format_bandwidth(limit), best.choice.nchannels, links);
}

Json document(const SimPlan& plan, const SimArguments& arguments, const std::vector<SimRow>& rows) {
  Json results = Json::array();
  int nchannels = 0;
  for (const SimRow& row : rows) {
    nchannels = std::max(nchannels, row.choice.nchannels);
    results.push_back({{"bytes", row.bytes.value},
                       {"count", row.call.count},
                       {"type", to_string(row.call.type)},
                       {"algorithm", to_string(row.choice.algorithm)},
                       {"protocol", to_string(row.choice.protocol)},
                       {"nchannels", row.choice.nchannels},
                       {"chunk_bytes", row.choice.chunk.value},
                       {"time_us", in_us(row.result.time)},
                       {"algbw_gbs", in_gbs(row.algbw)},
                       {"busbw_gbs", in_gbs(row.busbw)},
                       {"events", row.result.transfers},
                       {"wall_s", row.result.wall.count()}});
  }
  return {{"schema", "ringside.sim/1"},
          {"collective", to_string(plan.collective)},
          {"on", arguments.on},
          {"nodes", plan.cluster.nodes},
          {"nranks", plan.cluster.nranks()},
          {"nchannels", nchannels},
          {"fidelity", arguments.fidelity},
          {"results", std::move(results)}};
}

VerbResult run(const SimArguments& arguments) {
  RINGSIDE_TRY(const SimPlan plan, make_plan(arguments));
  std::vector<SimRow> rows;
  for (const Bytes size : plan.sizes) {
    RINGSIDE_TRY(SimRow row, simulate_size(plan, arguments, size));
    if (!arguments.json) {
      if (rows.empty()) print_head(plan);
      print_row(row);
    }
    rows.push_back(std::move(row));
  }
  if (arguments.json) {
    fmt::print("{}", to_text(document(plan, arguments, rows)));
  } else {
    fmt::print("{}\n", perspective(plan, rows));
  }
  return kFine;
}

}  // namespace

Verb sim_verb() {
  return {
      "sim",
      "Simulate a collective on a cluster that need not be there",
      {"ringside sim all_reduce --bytes 1G --on dgx-h100 --nodes 2",
       "ringside sim all_gather --bytes 1M:64M:8 --on dgx-h100 --nodes 2 --json"},
      [](CLI::App& app) {
        auto arguments = std::make_shared<SimArguments>();
        SimArguments& a = *arguments;
        app.add_option("collective", a.collective,
                       "all_reduce, all_gather, reduce_scatter or broadcast")
            ->required();
        app.add_option("-b,--bytes", a.sizes,
                       "size, or from:to:factor; of the larger buffer of a rank")
            ->capture_default_str();
        app.add_option("--on", a.on, "node type: a preset's name, or a node YAML's path")
            ->required();
        app.add_option("-N,--nodes", a.nodes, "how many of them")->capture_default_str();
        app.add_option("-t,--type,-d,--datatype", a.type, "element type")->capture_default_str();
        app.add_option("--channels", a.channels, "channels to use (default: tuned)");
        app.add_option("--fidelity", a.fidelity, "chunk: each chunk is a flow of its own")
            ->capture_default_str();
        app.add_option("--trace", a.trace,
                       "record every primitive into this .rtrace file (one size only)");
        app.add_flag("--json", a.json, "one JSON document on stdout");
        return [arguments] { return run(*arguments); };
      }};
}

}  // namespace ringside::cli
