#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
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
#include "cli/sim/sim_report.h"
#include "cli/sim/sim_variants.h"
#include "cli/verb.h"
#include "engine/tuning/choice.h"
#include "study/profile.h"
#include "study/release_spread.h"
#include "study/simulation.h"
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
  bool is_isolated = false;       ///< one call alone, not one of a loop of calls
  bool is_release_named = false;  ///< by --nccl
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

/// The simulation of one size.
struct SimAnswer {
  SimRow row;
  std::optional<study::Profile> profile = {};
};

Result<SimAnswer> simulate_size(const SimPlan& plan, std::size_t number, bool wants_profile) {
  RINGSIDE_TRY(study::SimCall call, study::tune_call(plan, plan.calls.sizes[number]));
  std::string what = "simulating " + format_bytes(call.bytes);
  if (const std::size_t all = plan.calls.sizes.size(); all > 1) {
    what += fmt::format(", size {} of {}", number + 1, all);
  }
  Progress progress(std::move(what));
  const auto show = [&progress](double share) { progress.show(share); };
  if (!wants_profile) {
    RINGSIDE_TRY(SimRow row, study::simulate_call(plan, std::move(call), {.progress = show}));
    return SimAnswer{std::move(row)};
  }
  RINGSIDE_TRY(study::Profile profile, study::profile_call(plan, call, show));
  SimRow row = profile.row;
  return SimAnswer{std::move(row), std::move(profile)};
}

/// Lists the settings that can vary: `nodes: ...; nics: ...`
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

/// Lists the fidelities: `chunk: ...; event: ...`
std::string fidelity_help() {
  std::string help;
  for (const Fidelity& one : fidelities()) {
    help += fmt::format("{}{}: {}", help.empty() ? "" : "; ", one.name, one.what);
  }
  return help;
}

VerbResult run_what_ifs(const SimArguments& arguments) {
  if (arguments.profile || !arguments.plot.empty()) {
    return Error{ErrorCode::InvalidArgument, "--profile or --plot with what-ifs",
                 "they look at one run: drop --vary, and give one value, such as --set nics=4"};
  }
  RINGSIDE_TRY(std::vector<study::Variant> variants,
               study::variants_of(arguments.question, arguments.vary, arguments.drop_rail));
  return run_variants(arguments.question, std::move(variants), arguments.json);
}

/// Draws the profile of one size, or the times of several, into the file of --plot.
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

/// returns  kRunFailed: the faults hang the job, as a hang ends a real run
VerbResult run_with_faults(const SimArguments& arguments) {
  RINGSIDE_TRY(const study::FaultQuestion question, fault_question(arguments));
  RINGSIDE_TRY(const SimPlan plan, study::plan_simulation(arguments.question));
  RINGSIDE_TRY(study::prepare_faults(plan, question));
  std::vector<SimRow> rows;
  for (std::size_t i = 0; i < plan.calls.sizes.size(); ++i) {
    RINGSIDE_TRY(SimAnswer answer, simulate_size(plan, i, false));
    rows.push_back(std::move(answer.row));
  }
  RINGSIDE_TRY(const study::FaultyJob job, study::play_faults(plan, rows, question));
  if (arguments.json) {
    Json all = sim_document(plan, rows);
    add_faults(all, job, question);
    fmt::print("{}", to_text(all));
  } else {
    fmt::print("{}{}\n", faulty_text(plan, rows, job, question), error_bars(rows, plan));
  }
  return job.verdict ? kRunFailed : kFine;
}

VerbResult run(const SimArguments& arguments) {
  note_unverified(arguments.question.nccl);
  print_idle_settings(arguments.question.job);
  if (arguments.faults.is_any()) return run_with_faults(arguments);
  if (arguments.iterations || !arguments.op_timeout.empty() || !arguments.dumps.empty()) {
    return Error{ErrorCode::InvalidArgument, "--iters, --op-timeout and --dumps without faults",
                 "give --fault or --fault-plan, too: undisturbed, each size is called once"};
  }
  if (!arguments.vary.empty() || arguments.drop_rail) return run_what_ifs(arguments);
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
    Json all = sim_document(plan, rows);
    for (std::size_t i = 0; arguments.profile && i < answers.size(); ++i) {
      all["results"][i]["profile"] = profile_document(*answers[i].profile);
    }
    fmt::print("{}", to_text(all));
    return kFine;
  }
  fmt::print("{}\n", closing_lines(plan, rows));
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
