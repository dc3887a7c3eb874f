#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/write_file.h"
#include "cli/bench/fault_options.h"
#include "cli/job_options.h"
#include "cli/options.h"
#include "cli/plots/curves_plot.h"
#include "cli/progress.h"
#include "cli/release_note.h"
#include "cli/sim/sim_faults.h"
#include "cli/sim/sim_notes.h"
#include "cli/sim/sim_profile.h"
#include "cli/verb.h"
#include "engine/tuning/choice.h"
#include "study/explain/fabric_rounding.h"
#include "study/profile.h"
#include "study/release_spread.h"
#include "study/simulation.h"
#include "study/validate/measured_reach.h"
#include "study/what_if.h"

namespace ringside::cli {
namespace {

using study::SimPlan;
using study::SimRow;

struct SimArguments {
  study::SimQuestion question;
  std::string nccl;  ///< empty: not given
  std::vector<std::string> vary;
  std::optional<int> drop_rail;
  bool profile = false;
  bool is_isolated = false;
  bool is_release_named = false;
  std::string plot;
  FaultArguments faults;
  std::optional<int> iterations;  ///< with faults only, like the next two
  std::string op_timeout;
  std::string dumps;
  bool json = false;

  /// Returns whether the profile of one size is drawn.
  [[nodiscard]] bool wants_profile(const SimPlan& plan) const {
    return profile || (!plot.empty() && plan.calls.sizes.size() == 1);
  }
};

/// One size, simulated.
struct SimAnswer {
  SimRow row;
  std::optional<study::Profile> profile = {};
};

std::function<void(double)> shown_on(Progress& progress) {
  return [&progress](double share) { progress.show(share); };
}

Result<SimAnswer> simulate_size(const SimPlan& plan, std::size_t number, bool wants_profile) {
  RINGSIDE_TRY(study::SimCall call, study::tune_call(plan, plan.calls.sizes[number]));
  std::string what = "simulating " + format_bytes(call.bytes);
  if (const std::size_t all = plan.calls.sizes.size(); all > 1) {
    what += fmt::format(", size {} of {}", number + 1, all);
  }
  Progress progress(std::move(what));
  if (!wants_profile) {
    RINGSIDE_TRY(SimRow row,
                 study::simulate_call(plan, std::move(call), {.progress = shown_on(progress)}));
    return SimAnswer{std::move(row)};
  }
  RINGSIDE_TRY(study::Profile profile, study::profile_call(plan, call, shown_on(progress)));
  SimRow row = profile.row;
  return SimAnswer{std::move(row), std::move(profile)};
}

void print_head(const SimPlan& plan) {
  const CommShape& shape = plan.job.shape();
  fmt::print("# {} simulated on {}: {}, {}\n", to_string(plan.calls.collective),
             plan.question.job.on, plural(static_cast<std::size_t>(shape.nranks), "rank", "ranks"),
             plural(static_cast<std::size_t>(shape.nnodes), "node", "nodes"));
  constexpr std::string_view kHead =
      "#{:>12} {:>12} {:>9} {:>14} {:>8} {:>8} {:>12} {:>12} {:>8} {:>8} {:>8} {:>11} {:>7}\n";
  fmt::print(kHead, "size", "count", "type", "algorithm", "protocol", "channels", "time", "NCCL's",
             "algbw", "busbw", "busiest", "transfers", "wall");
  fmt::print(kHead, "(B)", "(elements)", "", "", "", "", "(us)", "model (us)", "(GB/s)", "(GB/s)",
             "link (%)", "", "(s)");
}

std::string bandwidth_text(const SimRow& row, BytesPerSecond bandwidth) {
  return row.is_alone ? "-" : fmt::format("{:.2f}", in_gbs(bandwidth));
}

void print_row(const SimPlan& plan, const SimRow& row) {
  const SimTuned& tuned = row.call.tuned;
  const Choice& choice = tuned.choice;
  const std::string predicted = tuned.prediction
                                    ? fmt::format("{:.2f}{}", tuned.prediction->time_us,
                                                  study::has_fallback_search(plan, row) ? "*" : "")
                                    : "-";
  fmt::print(
      " {:>12} {:>12} {:>9} {:>14} {:>8} {:>8} {:>12.2f} {:>12} {:>8} {:>8} {:>8.0f} {:>11} "
      "{:>7.2f}\n",
      row.call.bytes.value, row.call.shape.count, to_string(row.call.shape.type),
      to_string(choice.algorithm), to_string(choice.protocol), choice.nchannels,
      in_us(row.result.time), predicted, bandwidth_text(row, row.algbw),
      bandwidth_text(row, row.busbw), 100 * row.busy_share(), row.result.transfers,
      row.result.wall.count());
  std::fflush(stdout);
}

/// Returns the reason that limits the call, as a clause.
std::string limit_sentence(const SimRow& row) {
  const std::string limit = study::limit_of(row);
  if (!row.path_limit.empty()) {
    return fmt::format("{:.0f} % of its critical path is {}", 100 * row.path_part, limit);
  }
  if (limit == "bandwidth") return "the bandwidth of a link limits it";
  if (limit == "latency") return "latency limits it: steps take far longer than their bytes";
  if (limit == "steps") return "no link limits it, but steps that wait for one another";
  return limit + " limits it";
}

/// Returns how much of the links the best row uses, and what limits it.
std::string perspective(const std::vector<SimRow>& rows) {
  const SimRow& best = study::best_of(rows);
  if (best.is_alone) {
    return "# one rank: in place NCCL does nothing, out of place it copies within the GPU's "
           "memory, which is not "
           "simulated: the time is a launch's";
  }
  if (best.fidelity == "model") {
    return fmt::format("# best: {} at {} B, as NCCL's tuner estimates; no link was simulated",
                       format_bandwidth(best.busbw), best.call.bytes.value);
  }
  if (!best.busiest) return "# no bytes crossed a link";
  return fmt::format(
      "# best: {} at {} B; {}; the busiest link, {} with {}, is busy for {:.0f} % of the time",
      format_bandwidth(best.busbw), best.call.bytes.value, limit_sentence(best), best.busiest->name,
      format_bandwidth(best.busiest->rate), 100 * best.busy_share());
}

/// Returns how the job's fabric differs from what its file requests, which part of it the job does not use, and how many
/// hosts a leaf takes where that depends on their NICs; empty: neither.
std::string fabric_note_of(const SimPlan& plan) {
  const auto& fabric = plan.job.asked.fabric;
  if (!fabric) return {};
  std::string note = study::fabric_note(*fabric->fabric, fabric->nodes);
  const System& system = plan.job.asked.job.systems.front();
  const std::string leaves =
      fabric->is_by_word ? study::leaf_note(*fabric->fabric, system.nets.size(), system.gpus.size())
                         : std::string();
  if (!note.empty() && !leaves.empty()) note += "; ";
  return note + leaves;
}

/// Returns the link of a cluster's fabric with the most load, in the best row.
std::string fabric_line(const std::vector<SimRow>& rows) {
  const SimRow& best = study::best_of(rows);
  if (!best.busiest_fabric) return {};
  const study::BusyFabricLink& busy = *best.busiest_fabric;
  return fmt::format(
      "# fabric: the busiest link, {} ({}) with {}, carries for {:.0f} % of the time\n",
      busy.link.name, busy.tier, format_bandwidth(busy.link.rate),
      100 * (busy.needs / best.result.time));
}

/// Returns the fidelity that `auto` chose, and why, at each change.
std::string picked_lines(const std::vector<SimRow>& rows) {
  std::string lines;
  std::string before;
  for (const SimRow& row : rows) {
    if (row.why.empty() || row.fidelity == before) continue;
    before = row.fidelity;
    lines += fmt::format("# from {} B fidelity {} (chosen automatically: {})\n",
                         row.call.bytes.value, row.fidelity, row.why);
  }
  return lines;
}

/// `nodes: ...; nics: ...`
std::string vary_help() {
  std::string help =
      "KEY=V1,V2: what if; each value is compared with the base, several --vary give the grid. A "
      "value with commas "
      "needs brackets or quotes: 'NCCL_ALGO=\"Ring,Tree\",NVLS'.";
  for (const study::WhatIfKey& one : study::what_if_keys()) {
    help += fmt::format(" {}: {};", one.name, one.what);
  }
  return help + " fabric.KEY or placement: of a cluster's file; any variable of NCCL's";
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
                {"error_percent", row.is_alone ? Json() : Json(row.error_percent)},
                {"error_systems", row.is_alone ? Json() : Json(row.error_systems)},
                {"overlap_us", in_us(row.overlap)},
                {"nearer_nccl_error_percent",
                 row.nearer_nccl_error > 0 ? Json(row.nearer_nccl_error) : Json()},
                {"predicted_us", nullptr},
                {"algbw_gbs", in_gbs(row.algbw)},
                {"busbw_gbs", in_gbs(row.busbw)},
                {"busiest_link", nullptr},
                {"busiest_fabric_link", nullptr},
                {"transfers", row.result.transfers},
                {"fidelity", row.fidelity},
                {"wall_s", row.result.wall.count()}};
  if (row.is_alone) document["algbw_gbs"] = document["busbw_gbs"] = nullptr;
  if (tuned.prediction) document["predicted_us"] = tuned.prediction->time_us;
  if (row.busiest) {
    document["busiest_link"] = {{"name", row.busiest->name},
                                {"bandwidth_gbs", in_gbs(row.busiest->rate)},
                                {"busy_us", in_us(row.result.busiest)}};
  }
  if (row.busiest_fabric) {
    const study::BusyFabricLink& busy = *row.busiest_fabric;
    document["busiest_fabric_link"] = {{"name", busy.link.name},
                                       {"tier", busy.tier},
                                       {"bandwidth_gbs", in_gbs(busy.link.rate)},
                                       {"busy_us", in_us(busy.needs)}};
  }
  return document;
}

Json head_document(const SimPlan& plan) {
  return {{"schema", "ringside.sim/1"},
          {"collective", to_string(plan.calls.collective)},
          {"on", plan.question.job.on},
          {"nodes", plan.job.shape().nnodes},
          {"nranks", plan.job.shape().nranks}};
}

Json document(const SimPlan& plan, const std::vector<SimRow>& rows) {
  Json results = Json::array();
  int nchannels = 0;
  for (const SimRow& row : rows) {
    nchannels = std::max(nchannels, row.call.tuned.choice.nchannels);
    results.push_back(result_document(row));
  }
  Json document = head_document(plan);
  document["nchannels"] = nchannels;
  document["fidelity"] = plan.question.fidelity;
  document["beyond_measured"] = nullptr;
  if (std::string beyond = study::beyond_measured(plan); !beyond.empty()) {
    document["beyond_measured"] = beyond;
  }
  document["fabric_note"] = nullptr;
  if (std::string note = fabric_note_of(plan); !note.empty()) document["fabric_note"] = note;
  document["results"] = std::move(results);
  return document;
}

// ---- what-ifs ----------------------------------------------------------------------------------

void print_variants_head(const study::PlannedVariant& base, std::size_t width) {
  const CommShape& shape = base.plan->job.shape();
  fmt::print("# {} simulated on {}: {}, {}; each compared with the base\n",
             to_string(base.plan->calls.collective), base.plan->question.job.on,
             plural(static_cast<std::size_t>(shape.nranks), "rank", "ranks"),
             plural(static_cast<std::size_t>(shape.nnodes), "node", "nodes"));
  constexpr std::string_view kHead =
      "{:<{}} {:>12} {:>6} {:>14} {:>8} {:>12} {:>5} {:>9} {:>8}  {}\n";
  fmt::print(kHead, "# variant", width + 1, "size", "ranks", "algorithm", "protocol", "time", "+-%",
             "busbw", "busbw", "limited by");
  fmt::print(kHead, "#", width + 1, "(B)", "", "", "", "(us)", "", "(GB/s)", "(x base)", "");
}

void print_variant(const study::PlannedVariant& planned, const study::VariantCall& call,
                   const SimRow& base, std::size_t width) {
  const std::string label = planned.variant.label();
  const std::string nranks =
      planned.plan ? std::to_string(planned.plan->job.shape().nranks) : std::string("-");
  if (!call.row) {
    fmt::print(" {:<{}} {:>12} {:>6}  not done: {}\n", label, width, base.call.bytes.value, nranks,
               call.refusal);
    return;
  }
  const SimRow& row = *call.row;
  const Choice& choice = row.call.tuned.choice;
  const std::string fabric_note = fabric_note_of(*planned.plan);
  const bool has_ratio = !row.is_alone && !base.is_alone;
  const std::string ratio =
      has_ratio ? fmt::format("{:.2f}", row.busbw.value / base.busbw.value) : "-";
  fmt::print(" {:<{}} {:>12} {:>6} {:>14} {:>8} {:>12.2f} {:>5} {:>9} {:>8}  {}{}\n", label, width,
             row.call.bytes.value, nranks, to_string(choice.algorithm), to_string(choice.protocol),
             in_us(row.result.time), error_text(row, *planned.plan), bandwidth_text(row, row.busbw),
             ratio, study::limit_text(row),
             fabric_note.empty() ? "" : fmt::format("; {}", fabric_note));
}

Json variant_document(const study::PlannedVariant& planned,
                      const std::vector<study::VariantCall>& calls,
                      const std::vector<SimRow>& base) {
  Json settings = Json::object();
  for (const auto& [key, value] : planned.variant.settings) settings[key] = value;
  Json results = Json::array();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].row) {
      results.push_back({{"bytes", base[i].call.bytes.value}, {"refusal", calls[i].refusal}});
      continue;
    }
    const SimRow& row = *calls[i].row;
    Json result = result_document(row);
    result["time_ratio"] = row.result.time / base[i].result.time;
    result["busbw_ratio"] = nullptr;
    if (!row.is_alone && !base[i].is_alone) {
      result["busbw_ratio"] = row.busbw.value / base[i].busbw.value;
    }
    result["limit"] = study::limit_text(row);
    results.push_back(std::move(result));
  }
  Json document{{"settings", std::move(settings)},
                {"nodes", nullptr},
                {"nranks", nullptr},
                {"fabric_note", nullptr},
                {"beyond_measured", nullptr},
                {"results", std::move(results)}};
  if (planned.plan) {
    if (std::string beyond = study::beyond_measured(*planned.plan); !beyond.empty()) {
      document["beyond_measured"] = beyond;
    }
    if (std::string note = fabric_note_of(*planned.plan); !note.empty())
      document["fabric_note"] = note;
    document["nodes"] = planned.plan->job.shape().nnodes;
    document["nranks"] = planned.plan->job.shape().nranks;
  }
  return document;
}

/// A variant that was not simulated is a finding.
int status_of(const std::vector<std::vector<study::VariantCall>>& calls) {
  const auto is_refused = [](const study::VariantCall& call) { return !call.row; };
  const auto has_refusal = [&](const auto& of_one) {
    return std::ranges::any_of(of_one, is_refused);
  };
  return std::ranges::any_of(calls, has_refusal) ? kFinding : kFine;
}

VerbResult run_variants(const SimArguments& arguments) {
  if (arguments.profile || !arguments.plot.empty()) {
    return Error{ErrorCode::InvalidArgument, "--profile or --plot with what-ifs",
                 "they look at one run: drop --vary, and give one value, such as --set nics=4"};
  }
  RINGSIDE_TRY(std::vector<study::Variant> variants,
               study::variants_of(arguments.question, arguments.vary, arguments.drop_rail));
  RINGSIDE_TRY(const std::vector<study::PlannedVariant> planned,
               study::plan_variants(std::move(variants)));
  std::set<std::string> noted{arguments.question.nccl};
  for (const study::PlannedVariant& one : planned) {
    if (noted.insert(one.variant.question.nccl).second) note_unverified(one.variant.question.nccl);
  }
  std::size_t width = std::string_view("variant").size();
  for (const study::PlannedVariant& one : planned)
    width = std::max(width, one.variant.label().size());
  const std::vector<Bytes>& sizes = planned.front().plan->calls.sizes;
  std::vector<std::vector<study::VariantCall>> calls(planned.size());
  std::vector<SimRow> base;
  for (std::size_t size = 0; size < sizes.size(); ++size) {
    for (std::size_t i = 0; i < planned.size(); ++i) {
      Progress progress(
          fmt::format("simulating {}, {}", planned[i].variant.label(), format_bytes(sizes[size])));
      RINGSIDE_TRY(study::VariantCall call,
                   study::simulate_variant(planned[i], sizes[size], shown_on(progress)));
      if (i == 0) base.push_back(*call.row);
      calls[i].push_back(std::move(call));
      if (arguments.json) continue;
      if (size == 0 && i == 0) print_variants_head(planned.front(), width);
      print_variant(planned[i], calls[i].back(), base.back(), width);
      std::fflush(stdout);
    }
  }
  if (!arguments.json) {
    fmt::print("{}\n", kErrorsOfVariants);
    return status_of(calls);
  }
  Json document = head_document(*planned.front().plan);
  document["fidelity"] = arguments.question.fidelity;
  document["base"] = variant_document(planned.front(), calls.front(), base);
  document["variants"] = Json::array();
  for (std::size_t i = 1; i < planned.size(); ++i) {
    document["variants"].push_back(variant_document(planned[i], calls[i], base));
  }
  fmt::print("{}", to_text(document));
  return status_of(calls);
}

/// For one size draws its profile, for several their times.
Status draw_curves(const SimArguments& arguments, const SimPlan& plan,
                   const std::vector<SimAnswer>& answers, const std::vector<SimRow>& rows) {
  if (arguments.plot.empty()) return {};
  const CommShape& shape = plan.job.shape();
  std::string title =
      fmt::format("{} on {}, {}, {}", to_string(plan.calls.collective), plan.question.job.on,
                  plural(static_cast<std::size_t>(shape.nnodes), "node", "nodes"),
                  plural(static_cast<std::size_t>(shape.nranks), "rank", "ranks"));
  if (answers.size() > 1)
    return write_file(arguments.plot, curves_svg(title, study::curves_of(rows)));
  const SimRow& row = rows.front();
  title += fmt::format(": {} in {} by {}", format_bytes(row.call.bytes),
                       format_time(row.result.time), to_string(row.call.tuned.choice.algorithm));
  return write_file(arguments.plot, profile_svg(title, *answers.front().profile));
}

// ---- faults ------------------------------------------------------------------------------------

/// Returns the option that needs undisturbed calls; empty: none is given.
std::string_view undisturbed_option(const SimArguments& arguments) {
  if (!arguments.vary.empty()) return "--vary";
  if (arguments.drop_rail) return "--drop-rail";
  if (arguments.profile) return "--profile";
  if (!arguments.plot.empty()) return "--plot";
  return arguments.question.trace.empty() ? "" : "--trace";
}

Result<study::FaultQuestion> fault_question(const SimArguments& arguments) {
  if (const std::string_view option = undisturbed_option(arguments); !option.empty()) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} with faults", option),
                 "it looks at undisturbed calls: omit --fault and --fault-plan"};
  }
  study::FaultQuestion question{.folder = arguments.dumps};
  RINGSIDE_TRY(question.plan, fault_plan_of(arguments.faults));
  question.iterations = arguments.iterations.value_or(question.iterations);
  if (!arguments.op_timeout.empty()) {
    RINGSIDE_TRY(question.patience, parse_time(arguments.op_timeout));
  }
  return question;
}

/// A hang also ends a real run with a failure.
VerbResult run_with_faults(const SimArguments& arguments) {
  RINGSIDE_TRY(const study::FaultQuestion question, fault_question(arguments));
  RINGSIDE_TRY(const SimPlan plan, study::plan_simulation(arguments.question));
  RINGSIDE_TRY(study::check_faults(plan, question));
  std::vector<SimRow> rows;
  for (std::size_t i = 0; i < plan.calls.sizes.size(); ++i) {
    RINGSIDE_TRY(SimAnswer answer, simulate_size(plan, i, false));
    rows.push_back(std::move(answer.row));
  }
  RINGSIDE_TRY(const study::FaultyJob job, study::play_faults(plan, rows, question));
  if (arguments.json) {
    Json all = document(plan, rows);
    add_faults(all, job, question);
    fmt::print("{}", to_text(all));
  } else {
    fmt::print("{}{}\n", faulty_text(plan, rows, job, question), error_bars(rows, plan));
  }
  return job.verdict ? kRunFailed : kFine;
}

VerbResult run(const SimArguments& arguments) {
  note_unverified(arguments.question.nccl);
  note_idle_settings(arguments.question.job);
  if (arguments.faults.is_any()) return run_with_faults(arguments);
  if (arguments.iterations || !arguments.op_timeout.empty() || !arguments.dumps.empty()) {
    return Error{ErrorCode::InvalidArgument, "--iters, --op-timeout and --dumps without faults",
                 "give --fault or --fault-plan, too: undisturbed, each size is called once"};
  }
  if (!arguments.vary.empty() || arguments.drop_rail) return run_variants(arguments);
  RINGSIDE_TRY(const SimPlan plan, study::plan_simulation(arguments.question));
  std::vector<SimAnswer> answers;
  std::vector<SimRow> rows;
  for (std::size_t i = 0; i < plan.calls.sizes.size(); ++i) {
    RINGSIDE_TRY(SimAnswer answer, simulate_size(plan, i, arguments.wants_profile(plan)));
    if (!arguments.json) {
      if (rows.empty()) print_head(plan);
      print_row(plan, answer.row);
      if (arguments.profile) fmt::print("{}", profile_text(*answer.profile));
    }
    rows.push_back(answer.row);
    answers.push_back(std::move(answer));
  }
  RINGSIDE_TRY(draw_curves(arguments, plan, answers, rows));
  if (arguments.json) {
    Json all = document(plan, rows);
    for (std::size_t i = 0; arguments.profile && i < answers.size(); ++i) {
      all["results"][i]["profile"] = profile_document(*answers[i].profile);
    }
    fmt::print("{}", to_text(all));
    return kFine;
  }
  const std::string fabric_note = fabric_note_of(plan);
  fmt::print("{}\n{}{}{}{}{}{}\n", perspective(rows), fabric_line(rows),
             fabric_note.empty() ? "" : fmt::format("# fabric: {}\n", fabric_note),
             picked_lines(rows), loop_line(rows), nearer_line(rows) + fallback_line(plan, rows),
             error_bars(rows, plan));
  if (!arguments.is_release_named) {
    RINGSIDE_TRY(const std::string spread, study::release_spread_text(plan, rows));
    if (!spread.empty()) fmt::print("# {}\n", spread);
  }
  if (!arguments.plot.empty()) fmt::print("# drawn in {}\n", arguments.plot);
  return kFine;
}

}  // namespace

Verb sim_verb() {
  return {
      "sim",
      "Simulate a collective on a cluster that need not be there",
      {"ringside sim all_reduce --bytes 1G --on dgx-h100 --nodes 2",
       "ringside sim all_reduce --bytes 64M --on dgx-h100 --nodes 2 --profile --plot where.svg"},
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
        app.add_option("--channels", question.channels, "channels to use (default: NCCL's choice)")
            ->check_range(1, kMaxChannels);
        app.add_option("--nccl", a.nccl,
                       fmt::format("version of NCCL whose choices are simulated (default: {})",
                                   kDefaultRelease));
        app.add_flag("--isolated", a.is_isolated,
                     "time one call alone, not one of a loop of calls as nccl-tests measures");
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
        app.add_output("--trace", question.trace, ContentKind::Trace,
                       "record every primitive into this .rtrace file (one size only)");
        app.add_option("--vary", a.vary, vary_help())->allow_extra_args(false);
        app.add_option("--drop-rail", a.drop_rail,
                       "what if: each host without the NIC of this number, compared with the base");
        app.add_flag("--profile", a.profile,
                     "where the time goes: busy links over time, critical path, phases");
        app.add_output("--plot", a.plot, ContentKind::Svg,
                       "draw that into this SVG file; of several sizes, time and busbw");
        add_fault_options(app, a.faults);
        app.add_option("--iters", a.iterations, "with faults: calls of each size (default: 20)")
            ->check_range(1, 1'000'000);
        app.add_option(
            "--op-timeout", a.op_timeout,
            "with faults: time without progress after which a collective fails (default: 60s)");
        app.add_option("--dumps", a.dumps,
                       "with faults: keep what a hang leaves in this new or empty folder, for "
                       "ringside hang");
        app.add_flag("--json", a.json, "one JSON document on stdout");
        return [arguments] {
          arguments->is_release_named = !arguments->nccl.empty();
          if (arguments->is_release_named) arguments->question.nccl = arguments->nccl;
          arguments->question.is_in_loop = !arguments->is_isolated && !arguments->profile &&
                                           arguments->question.trace.empty() &&
                                           !arguments->faults.is_any();
          return run(*arguments);
        };
      }};
}

}  // namespace ringside::cli
