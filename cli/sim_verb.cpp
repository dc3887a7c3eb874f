#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "base/wording.h"
#include "cli/job_options.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "study/simulation.h"

namespace ringside::cli {
namespace {

using study::SimPlan;
using study::SimRow;

struct SimArguments {
  study::SimQuestion question;
  bool json = false;
};

Result<SimRow> simulate_size(const SimPlan& plan, Bytes size) {
  RINGSIDE_TRY(study::SimCall call, study::tune_call(plan, size));
  Progress progress("simulating " + format_bytes(call.bytes));
  std::function<void(double)> show;
  if (::isatty(STDERR_FILENO) != 0) show = [&](double share) { progress.show(share); };
  return study::simulate_call(plan, std::move(call), show);
}

void print_head(const SimPlan& plan) {
  const CommShape& shape = plan.job.shape();
  fmt::print("# {} simulated on {}: {}, {}\n", to_string(plan.calls.collective),
             plan.question.job.on, plural(static_cast<std::size_t>(shape.nranks), "rank", "ranks"),
             plural(static_cast<std::size_t>(shape.nnodes), "node", "nodes"));
  constexpr std::string_view kHead =
      "#{:>12}{:>13}{:>10}{:>15}{:>9}{:>9}{:>13}{:>13}{:>9}{:>9}{:>9}{:>12}{:>8}\n";
  fmt::print(kHead, "size", "count", "type", "algorithm", "protocol", "channels", "time", "NCCL's",
             "algbw", "busbw", "busiest", "events", "wall");
  fmt::print(kHead, "(B)", "(elements)", "", "", "", "", "(us)", "model (us)", "(GB/s)", "(GB/s)",
             "link (%)", "(transfers)", "(s)");
}

void print_row(const SimRow& row) {
  const SimTuned& tuned = row.call.tuned;
  const Choice& choice = tuned.choice;
  const std::string predicted =
      tuned.prediction ? fmt::format("{:.2f}", tuned.prediction->time_us) : "-";
  fmt::print(
      " {:>12}{:>13}{:>10}{:>15}{:>9}{:>9}{:>13.2f}{:>13}{:>9.2f}{:>9.2f}{:>9.0f}{:>12}{:>8.2f}\n",
      row.call.bytes.value, row.call.shape.count, to_string(row.call.shape.type),
      to_string(choice.algorithm), to_string(choice.protocol), choice.nchannels,
      in_us(row.result.time), predicted, in_gbs(row.algbw), in_gbs(row.busbw),
      100 * row.busy_share(), row.result.transfers, row.result.wall.count());
  std::fflush(stdout);
}

/// What the best row gets out of the links, and what is in its way.
std::string perspective(const std::vector<SimRow>& rows) {
  const SimRow& best = study::best_of(rows);
  if (!best.busiest) return "# no bytes crossed a link";
  return fmt::format(
      "# best: {} at {} B, where {} limits; the busiest link, {} with {}, carries for "
      "{:.0f} % of the time",
      format_bandwidth(best.busbw), best.call.bytes.value, study::limit_of(best),
      best.busiest->name, format_bandwidth(best.busiest->rate), 100 * best.busy_share());
}

/// Of the smallest and the largest size.
std::string error_bars(const std::vector<SimRow>& rows) {
  const double first = rows.front().error_percent;
  const double last = rows.back().error_percent;
  const std::string span = first == last ? fmt::format("+-{:g} %", last)
                                         : fmt::format("+-{:g} % at {} B, +-{:g} % at {} B", first,
                                                       rows.front().call.bytes.value, last,
                                                       rows.back().call.bytes.value);
  return fmt::format(
      "# {}: half of what was measured on other systems is nearer (docs/accuracy.md)", span);
}

/// `chunk: ...; event: ...`
std::string fidelity_help() {
  std::string help;
  for (const Fidelity& one : fidelities()) {
    help += fmt::format("{}{}: {}", help.empty() ? "" : "; ", one.name, one.what);
  }
  return help;
}

Json result_document(const SimRow& row) {
  const SimTuned& tuned = row.call.tuned;
  const Choice& choice = tuned.choice;
  Json document{{"bytes", row.call.bytes.value},
                {"count", row.call.shape.count},
                {"type", to_string(row.call.shape.type)},
                {"algorithm", to_string(choice.algorithm)},
                {"protocol", to_string(choice.protocol)},
                {"nchannels", choice.nchannels},
                {"chunk_bytes", choice.chunk.value},
                {"time_us", in_us(row.result.time)},
                {"error_percent", row.error_percent},
                {"predicted_us", nullptr},
                {"algbw_gbs", in_gbs(row.algbw)},
                {"busbw_gbs", in_gbs(row.busbw)},
                {"busiest_link", nullptr},
                {"events", row.result.transfers},
                {"wall_s", row.result.wall.count()}};
  if (tuned.prediction) document["predicted_us"] = tuned.prediction->time_us;
  if (row.busiest) {
    document["busiest_link"] = {{"name", row.busiest->name},
                                {"bandwidth_gbs", in_gbs(row.busiest->rate)},
                                {"busy_us", in_us(row.result.busiest)}};
  }
  return document;
}

Json document(const SimPlan& plan, const std::vector<SimRow>& rows) {
  Json results = Json::array();
  int nchannels = 0;
  for (const SimRow& row : rows) {
    nchannels = std::max(nchannels, row.call.tuned.choice.nchannels);
    results.push_back(result_document(row));
  }
  return {{"schema", "ringside.sim/1"},         {"collective", to_string(plan.calls.collective)},
          {"on", plan.question.job.on},         {"nodes", plan.job.shape().nnodes},
          {"nranks", plan.job.shape().nranks},  {"nchannels", nchannels},
          {"fidelity", plan.question.fidelity}, {"results", std::move(results)}};
}

VerbResult run(const SimArguments& arguments) {
  RINGSIDE_TRY(const SimPlan plan, study::plan_simulation(arguments.question));
  std::vector<SimRow> rows;
  for (const Bytes size : plan.calls.sizes) {
    RINGSIDE_TRY(SimRow row, simulate_size(plan, size));
    if (!arguments.json) {
      if (rows.empty()) print_head(plan);
      print_row(row);
    }
    rows.push_back(std::move(row));
  }
  if (arguments.json) {
    fmt::print("{}", to_text(document(plan, rows)));
  } else {
    fmt::print("{}\n{}\n", perspective(rows), error_bars(rows));
  }
  return kFine;
}

}  // namespace

Verb sim_verb() {
  return {"sim",
          "Simulate a collective on a cluster that need not be there",
          {"ringside sim all_reduce --bytes 1G --on dgx-h100 --nodes 2",
           "ringside sim all_gather --bytes 1M:64M:8 --on dgx-h100 --nodes 2 --algo ring --json"},
          [](Options& app) {
            auto arguments = std::make_shared<SimArguments>();
            SimArguments& a = *arguments;
            study::SimQuestion& question = a.question;
            app.add_option("collective", question.calls.collective,
                           "all_reduce, all_gather, all_to_all, ...: any but send and recv alone")
                ->required();
            app.add_option("-b,--bytes", question.calls.sizes,
                           "size, or from:to:factor; of the larger buffer of a rank")
                ->capture_default_str();
            add_job_options(app, question.job);
            app.add_option("-t,--type,-d,--datatype", question.calls.type, "element type")
                ->capture_default_str();
            app.add_option("--algo", question.algorithm, "algorithm (default: NCCL's choice)");
            app.add_option("--proto", question.protocol, "protocol (default: NCCL's choice)");
            app.add_option("--channels", question.channels,
                           "channels to use (default: NCCL's choice)");
            app.add_option("--nccl", question.nccl, "version of NCCL whose choices are simulated")
                ->capture_default_str();
            app.add_option(
                "--net", question.net,
                "what joins hosts: ib, roce, efa, tcp, fastrak, tcpx or slingshot (default: what "
                "the NICs' names suggest)");
            app.add_option("--launch", question.launch,
                           "process: a process a GPU; threads: one process for all GPUs of a node; "
                           "graph: CUDA graphs")
                ->capture_default_str();
            app.add_option("--model", question.model,
                           "a sim-model/1 with your own constants, as sim/models/*.yaml");
            app.add_option("--fidelity", question.fidelity, fidelity_help())->capture_default_str();
            app.add_option("--trace", question.trace,
                           "record every primitive into this .rtrace file (one size only)");
            app.add_flag("--json", a.json, "one JSON document on stdout");
            return [arguments] { return run(*arguments); };
          }};
}

}  // namespace ringside::cli
