#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/one_line.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/write_file.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "diag/report/sentences/hang_sentences.h"
#include "study/audit_replay.h"
#include "study/scenario/pytorch_script.h"
#include "study/scenario/reproduction.h"
#include "study/scenario/scenario_run.h"

namespace ringside::cli {
namespace {

struct ReproduceArguments {
  std::vector<std::string> paths;
  std::string file;    ///< of the scenario, or the folder of those of --findings; empty: stdout
  std::string script;  ///< empty: none is written
  int keep = study::ReproductionRequest{}.keep;
  bool is_healthy = false;
  bool json = false;
  bool has_findings = false;
  std::string cluster;  ///< of --findings; empty: the hosts that the logs show
};

Json verdict_document(const hang::Explanation& verdict) {
  return {{"kind", hang::to_string(verdict.kind)},
          {"culprits", verdict.culprits},
          {"confidence", verdict.confidence},
          {"why", hang::why_of(verdict)}};
}

std::string verdict_text(const hang::Explanation& verdict) {
  return fmt::format("{}, culprits: {}", hang::to_string(verdict.kind),
                     verdict.culprits.empty()
                         ? std::string("none")
                         : fmt::format("{}", fmt::join(verdict.culprits, ", ")));
}

Json replayed_document(const study::Replayed& one, const study::Replayed& healthy) {
  return {{"what", one.what},           {"finding", one.finding},
          {"title", one.title},         {"scenario", one.scenario},
          {"time_us", in_us(one.time)}, {"ratio", one.time / healthy.time}};
}

/// Replays the calls of a job's logs, on correct hosts and on hosts with the faults found.
VerbResult run_findings(const ReproduceArguments& arguments) {
  if (arguments.file.empty()) {
    return Error{ErrorCode::InvalidArgument, "--findings writes several scenarios",
                 "name a folder for them: -o replay/"};
  }
  RINGSIDE_TRY(
      const study::AuditReplay replay,
      study::replay_findings(
          {.logs = arguments.paths, .cluster = arguments.cluster, .folder = arguments.file}));
  const int status = replay.findings.empty() ? kFine : kFinding;
  if (arguments.json) {
    Json document{{"schema", "ringside.reproduce/1"},
                  {"hosts", replay.source},
                  {"healthy", replayed_document(replay.healthy, replay.healthy)},
                  {"findings", Json::array()},
                  {"together", nullptr},
                  {"unmodelled", replay.unmodelled},
                  {"unknown", replay.unknown}};
    for (const study::Replayed& one : replay.findings) {
      document["findings"].push_back(replayed_document(one, replay.healthy));
    }
    if (replay.together) {
      document["together"] = replayed_document(*replay.together, replay.healthy);
    }
    fmt::print("{}", to_text(document));
    return status;
  }
  const auto row = [&](const study::Replayed& one) {
    fmt::print("{:>12}{:>8.2f} x  {}{}\n", format_time(one.time), one.time / replay.healthy.time,
               one.what, one.finding.empty() ? "" : fmt::format(" ({})", one.finding));
  };
  fmt::print("the calls that were logged, simulated on {}:\n", replay.source);
  row(replay.healthy);
  for (const study::Replayed& one : replay.findings) row(one);
  if (replay.together) row(*replay.together);
  if (!replay.unmodelled.empty()) {
    fmt::print("not modelled  {}\n", fmt::join(replay.unmodelled, ", "));
  }
  for (const std::string& one : replay.unknown) fmt::print("not known     {}\n", one);
  fmt::print("scenarios     {}: ringside run {}\n", arguments.file, replay.healthy.scenario);
  return status;
}

Json document_of(const ReproduceArguments& arguments, const study::Reproduction& made,
                 const study::ScenarioOutcome& outcome) {
  Json document{{"schema", "ringside.reproduce/1"},
                {"scenario", nullptr},
                {"original", verdict_document(made.original)},
                {"replayed", nullptr},
                {"outcome", to_string(outcome.end)},
                {"met", outcome.unmet.empty()},
                {"unmet", outcome.unmet},
                {"unknown", made.unknown}};
  if (!arguments.file.empty()) document["scenario"] = arguments.file;
  if (!arguments.script.empty()) {
    document["script"] = arguments.script;
    document["script_options"] = study::fault_options(made);
  }
  if (outcome.verdict) document["replayed"] = verdict_document(*outcome.verdict);
  return document;
}

/// Prints both verdicts, and how to run the files that were written.
void print_comparison(const ReproduceArguments& arguments, const study::Reproduction& made,
                      const study::ScenarioOutcome& outcome) {
  fmt::print("evidence   {}\n           {}\n", verdict_text(made.original),
             one_line(hang::why_of(made.original)));
  fmt::print("replayed   {}\n", outcome.verdict ? verdict_text(*outcome.verdict)
                                                : std::string(to_string(outcome.end)));
  for (const std::string& one : outcome.unmet) fmt::print("differs    {}\n", one_line(one));
  for (const std::string& one : made.unknown) fmt::print("not known  {}\n", one);
  if (!arguments.file.empty()) {
    fmt::print("scenario   {}: ringside run {} [--on real]\n", arguments.file, arguments.file);
  }
  if (!arguments.script.empty()) {
    fmt::print("script     {}: {}\n", arguments.script,
               study::script_command(made, arguments.script));
    if (study::has_smaller_counts(made)) fmt::print("not known  {}\n", study::kSmallerCounts);
  }
}

VerbResult run(const ReproduceArguments& arguments) {
  if (arguments.has_findings && !arguments.script.empty()) {
    return Error{ErrorCode::InvalidArgument, "--script with --findings",
                 "omit it: --findings simulates hosts, and a script runs on this one"};
  }
  if (arguments.has_findings && arguments.is_healthy) {
    return Error{ErrorCode::InvalidArgument, "--healthy with --findings",
                 "omit it: --findings also simulates the hosts as they should be"};
  }
  if (!arguments.has_findings && !arguments.cluster.empty()) {
    return Error{ErrorCode::InvalidArgument, "--cluster without --findings",
                 "add --findings, or omit it: a hang is replayed on any hosts"};
  }
  if (arguments.has_findings) return run_findings(arguments);
  RINGSIDE_TRY(const hang::Examination evidence, hang::examine(arguments.paths));
  RINGSIDE_TRY(const study::Reproduction made,
               study::reproduction_of(
                   evidence, {.keep = arguments.keep, .is_healthy = arguments.is_healthy}));
  // The scenario that is written is the one that runs.
  const std::string text = to_yaml(made.scenario, made.unknown);
  RINGSIDE_TRY(const Scenario scenario, parse_scenario(text, "the scenario"));
  RINGSIDE_TRY(const study::ScenarioOutcome outcome,
               study::run_scenario({.scenario = scenario, .asks_ncclras = made.has_ncclras}));
  if (!arguments.file.empty()) RINGSIDE_TRY(write_file(arguments.file, text));
  if (!arguments.script.empty()) {
    RINGSIDE_TRY(write_file(arguments.script, study::pytorch_script(made)));
  }
  if (arguments.json) {
    fmt::print("{}", to_text(document_of(arguments, made, outcome)));
  } else if (arguments.file.empty() && arguments.script.empty()) {
    fmt::print("{}", text);
  } else {
    print_comparison(arguments, made, outcome);
  }
  return outcome.unmet.empty() ? kFine : kFinding;
}

}  // namespace

Verb reproduce_verb() {
  return {"reproduce",
          "Make a scenario, or a script of PyTorch, that hangs as the evidence did",
          {"ringside reproduce dumps/ -o hang.yaml", "ringside reproduce dumps/ --script hang.py"},
          [](Options& app) {
            auto arguments = std::make_shared<ReproduceArguments>();
            ReproduceArguments& a = *arguments;
            app.add_option("what", a.paths, "folders and files of one job, as hang takes them")
                ->required();
            app.add_output("-o,--output", a.file, ContentKind::Scenario,
                           "the scenario to write (default: on stdout)",
                           {.is_folder = &a.has_findings});
            app.add_output("--script", a.script, ContentKind::ReproducedScript,
                           "also write a script of PyTorch that makes the same calls on the same "
                           "groups: for ringside run, or torchrun");
            app.add_option("--keep", a.keep, "calls before the first that differs, at most")
                ->capture_default_str()
                ->check_range(0, 10000);
            app.add_flag("--healthy", a.is_healthy,
                         "only the calls that all ranks completed: the same job without its hang");
            app.add_flag("--findings", a.has_findings,
                         "of logs with COLL lines: simulate the calls on the hosts as they should "
                         "be, and as each finding of audit has them; -o is a folder");
            app.add_option("--cluster", a.cluster,
                           "with --findings: the hosts, as --on of sim takes them (default: what "
                           "the logs show)");
            app.add_flag("--json", a.json, "one JSON document on stdout: both verdicts");
            return [arguments] { return run(*arguments); };
          }};
}

}  // namespace ringside::cli
