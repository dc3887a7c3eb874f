#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.h"
#include "base/temporary.h"
#include "base/text.h"
#include "base/wording.h"
#include "cli/options.h"
#include "cli/sim/run_script.h"
#include "cli/sweep/sweep_run.h"
#include "cli/sweep/sweep_tables.h"
#include "cli/verb.h"
#include "diag/report/sentences/hang_sentences.h"
#include "study/host_gpu.h"
#include "study/scenario/scenario_run.h"
#include "study/sweep/sweep_file.h"

namespace ringside::cli {
namespace {

using study::ScenarioOutcome;

struct RunArguments {
  std::string file;
  std::string on = "sim";
  std::string folder;
  std::string fidelity = "auto";
  std::vector<std::string> vary;
  double timeout_s = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not given
  bool json = false;
  ScriptArguments script;
};

bool is_script(const RunArguments& arguments) { return arguments.file.ends_with(".py"); }

std::string ranks_text(const std::vector<int>& ranks) {
  return ranks.empty() ? "none" : fmt::format("{}", fmt::join(ranks, ", "));
}

void line(const char* label, const std::string& text) { fmt::print("  {:<12}{}\n", label, text); }

void print_times(const study::StepTimes& times, std::optional<Seconds> error) {
  const auto part = [&times](Seconds time) {
    const double share = times.step > Seconds{} ? time / times.step : 0;
    return fmt::format("{:>10}{:>7.1f} %", format_time(time), 100 * share);
  };
  line("step",
       fmt::format("{:>10}{}", format_time(times.step),
                   error ? fmt::format(" +- {:.0f} %: compute is off by {:.0f} % where one "
                                       "efficiency stands for all kernels, exposed calls by "
                                       "their typical error",
                                       100 * (*error / times.step), study::kComputeErrorPercent)
                         : std::string()));
  line("compute", part(times.compute));
  line("exposed", part(times.exposed) + "  in calls that no computation overlaps");
  line("idle",
       part(times.idle()) + "  neither: pipeline bubbles, waiting for late ranks and hosts");
}

std::string training_memory_text(const TrainingFacts& facts) {
  const MemoryNeed& need = facts.memory;
  const auto gb = [](double bytes) { return fmt::format("{:.1f}", bytes / 1e9); };
  std::string text = gb(need.total()) + " GB";
  if (facts.gpu_memory > 0) text += fmt::format(" of {} GB", gb(facts.gpu_memory));
  return text + fmt::format(
                    " on the fullest GPU: weights {}, gradients {}, optimizer {}, activations {}",
                    gb(need.weights), gb(need.gradients), gb(need.optimizer), gb(need.activations));
}

void print_training(const TrainingFacts& facts, const ScenarioOutcome& outcome) {
  if (outcome.rate) {
    const double tokens = outcome.rate->tokens_per_second;
    line("tokens/s", fmt::format("{:.0f}, {:.0f} a GPU", tokens, tokens / outcome.ranks));
    line("MFU",
         fmt::format("{:.1f} % of the GPUs' peak, without recomputation", 100 * outcome.rate->mfu));
  }
  line("memory", training_memory_text(facts));
}

void print_calls(const std::vector<study::CallTime>& calls) {
  if (calls.empty()) return;
  fmt::print("\n  {:<20}{:<16}{:>6}{:>7}{:>12}{:>12}{:>12}{:>8}  {:<10}{}\n", "groups", "call",
             "ranks", "hosts", "bytes", "alone", "shared", "busbw", "fidelity", "limited by");
  for (const study::CallTime& one : calls) {
    fmt::print("  {:<20}{:<16}{:>6}{:>7}{:>12}{:>12}{:>12}{:>8.1f}  {:<10}{}\n", one.groups,
               one.call, one.ranks, one.hosts, one.bytes.value, format_time(one.alone),
               format_time(one.time), one.busbw.value / 1e9, one.fidelity, one.limit);
  }
  fmt::print(
      "  shared: while other groups of the family on the same hosts call, too; busbw then, GB/s\n");
}

struct FileWords {
  hang::FileKind kind;
  const char* key;  ///< key in the JSON document
  const char *one, *many;
};
constexpr std::array<FileWords, 5> kFileWords{
    FileWords{hang::FileKind::Dump, "dumps", "dump", "dumps"},
    FileWords{hang::FileKind::Log, "logs", "log", "logs"},
    FileWords{hang::FileKind::Threads, "stacks", "stack", "stacks"},
    FileWords{hang::FileKind::Ras, "ras_reports", "report of ncclras", "reports of ncclras"},
    FileWords{hang::FileKind::Trace, "traces", "trace", "traces"}};

std::string files_text(const std::string& folder, const std::vector<hang::InputFile>& files) {
  std::vector<std::string> parts;
  for (const FileWords& words : kFileWords) {
    const auto count = std::ranges::count(files, words.kind, &hang::InputFile::kind);
    if (count > 0) {
      parts.push_back(plural(static_cast<std::size_t>(count), words.one, words.many));
    }
  }
  return parts.empty() ? folder : fmt::format("{}: {}", folder, fmt::join(parts, ", "));
}

Json files_document(const std::vector<hang::InputFile>& files) {
  Json document = Json::object();
  for (const FileWords& words : kFileWords) {
    Json paths = Json::array();
    for (const hang::InputFile& file : files) {
      if (file.kind == words.kind) paths.push_back(file.path);
    }
    document[words.key] = std::move(paths);
  }
  return document;
}

void print_outcome(const Scenario& scenario, const ScenarioOutcome& outcome,
                   const RunArguments& arguments) {
  fmt::print("{}: {} on {}, {}\n", scenario.name,
             plural(static_cast<std::size_t>(outcome.ranks), "rank", "ranks"),
             arguments.on == "real" ? "processes of this machine"
             : scenario.on.empty()
                 ? "simulated hosts (no host model: every transfer takes the same time)"
                 : "simulated " + scenario.on,
             to_string(outcome.end));
  if (!scenario.about.empty()) line("about", scenario.about);
  if (outcome.kinds < outcome.ranks) {
    line("played", fmt::format("{} of ranks, one simulated for all equal ones",
                               plural(static_cast<std::size_t>(outcome.kinds), "kind", "kinds")));
  }
  if (outcome.times) print_times(*outcome.times, outcome.error);
  if (scenario.training && arguments.on != "real") print_training(*scenario.training, outcome);
  if (!outcome.failure.empty()) line("error", outcome.failure);
  if (outcome.verdict) {
    line("verdict",
         fmt::format("{}, culprits: {} (confidence {:.2f})", hang::to_string(outcome.verdict->kind),
                     ranks_text(outcome.verdict->culprits), outcome.verdict->confidence));
    line("why", hang::why_of(*outcome.verdict));
  }
  if (!arguments.folder.empty()) line("files", files_text(arguments.folder, outcome.files));
  if (!outcome.findings.empty()) {
    line("audit", fmt::format("finds {}", fmt::join(outcome.findings, ", ")));
  }
  for (const std::string& one : outcome.notes) line("note", one);
  for (const std::string& one : outcome.unmet) line("not met", one);
  if (outcome.is_anything_expected && outcome.unmet.empty())
    line("expected", "yes: as the scenario expects");
  print_calls(outcome.calls);
}

Json memory_document(const TrainingFacts& facts) {
  const MemoryNeed& need = facts.memory;
  Json document{{"stage", need.stage},
                {"needed_gb", need.total() / 1e9},
                {"gpu_gb", nullptr},
                {"weights_gb", need.weights / 1e9},
                {"gradients_gb", need.gradients / 1e9},
                {"optimizer_gb", need.optimizer / 1e9},
                {"activations_gb", need.activations / 1e9}};
  if (facts.gpu_memory > 0) document["gpu_gb"] = facts.gpu_memory / 1e9;
  return document;
}

Json outcome_document(const Scenario& scenario, const ScenarioOutcome& outcome,
                      const RunArguments& arguments) {
  Json document{{"schema", "ringside.run/1"},
                {"name", scenario.name},
                {"on", arguments.on == "real" ? "real" : "sim"},
                {"nranks", outcome.ranks},
                {"kinds", outcome.kinds},
                {"outcome", to_string(outcome.end)},
                {"step_time_us", nullptr},
                {"error_percent", nullptr},
                {"compute_us", nullptr},
                {"exposed_us", nullptr},
                {"idle_us", nullptr},
                {"tokens_per_s", nullptr},
                {"mfu", nullptr},
                {"memory", nullptr},
                {"failure", nullptr},
                {"verdict", nullptr},
                {"expected", nullptr},
                {"met", nullptr},
                {"unmet", outcome.unmet},
                {"files", nullptr},
                {"evidence", nullptr},
                {"cluster", nullptr},
                {"iterations", scenario.outline.iterations},
                {"hosts", nullptr},
                {"calls", Json::array()},
                {"notes", outcome.notes},
                {"findings", outcome.findings}};
  if (outcome.times) {
    document["step_time_us"] = in_us(outcome.times->step);
    document["compute_us"] = in_us(outcome.times->compute);
    document["exposed_us"] = in_us(outcome.times->exposed);
    document["idle_us"] = in_us(outcome.times->idle());
  }
  if (outcome.error) {
    document["error_percent"] = 100 * (*outcome.error / outcome.times->step);
  }
  if (outcome.rate) {
    document["tokens_per_s"] = outcome.rate->tokens_per_second;
    document["mfu"] = outcome.rate->mfu;
  }
  if (scenario.training) document["memory"] = memory_document(*scenario.training);
  if (!outcome.failure.empty()) document["failure"] = outcome.failure;
  if (outcome.verdict) {
    document["verdict"] = {{"kind", hang::to_string(outcome.verdict->kind)},
                           {"culprits", outcome.verdict->culprits},
                           {"confidence", outcome.verdict->confidence},
                           {"call", outcome.verdict->call},
                           {"why", hang::why_of(*outcome.verdict)}};
  }
  const Expectation& expect = scenario.expect;
  if (expect.outcome) {
    document["met"] = outcome.unmet.empty();
    Json expected{{"outcome", *expect.outcome == Expectation::Outcome::Hang ? "hang" : "finished"}};
    if (!expect.kinds.empty()) expected["kinds"] = expect.kinds;
    if (expect.culprits) expected["culprits"] = *expect.culprits;
    if (expect.call) {
      expected["call"] = {
          {"call", expect.call->call}, {"on", expect.call->on}, {"number", nullptr}};
      if (expect.call->number) expected["call"]["number"] = *expect.call->number;
    }
    if (!expect.findings.empty()) expected["findings"] = expect.findings;
    for (const ExpectedBusbw& one : expect.busbw) {
      Json bound{{"call", one.call}, {"on", one.on}};
      if (one.at_least) bound["at_least_gbs"] = one.at_least->value / 1e9;
      if (one.at_most) bound["at_most_gbs"] = one.at_most->value / 1e9;
      expected["busbw"].push_back(std::move(bound));
    }
    if (expect.at_least) expected["at_least_us"] = in_us(*expect.at_least);
    if (expect.at_most) expected["at_most_us"] = in_us(*expect.at_most);
    document["expected"] = std::move(expected);
  }
  if (!arguments.folder.empty()) {
    document["files"] = arguments.folder;
    document["evidence"] = files_document(outcome.files);
  }
  if (!scenario.on.empty()) document["cluster"] = scenario.on;
  if (outcome.hosts > 0) document["hosts"] = outcome.hosts;
  for (const study::CallTime& one : outcome.calls) {
    document["calls"].push_back({{"groups", one.groups},
                                 {"call", one.call},
                                 {"ranks", one.ranks},
                                 {"hosts", one.hosts},
                                 {"bytes", one.bytes.value},
                                 {"alone_us", in_us(one.alone)},
                                 {"time_us", in_us(one.time)},
                                 {"busbw_gbs", one.busbw.value / 1e9},
                                 {"error_percent", one.error_percent},
                                 {"limit", one.limit},
                                 {"fidelity", one.fidelity}});
  }
  return document;
}

/// Hosts of --on replace the scenario's.
ScenarioReading reading_of(const RunArguments& arguments) {
  ScenarioReading reading = study::scenario_reading();
  if (arguments.on != "sim" && arguments.on != "real") reading.on = arguments.on;
  return reading;
}

/// Runs each combination of the varied values, as a sweep does.
VerbResult run_variants(const RunArguments& arguments) {
  if (arguments.on == "real" || !arguments.folder.empty() || !std::isnan(arguments.timeout_s)) {
    return Error{ErrorCode::InvalidArgument, "--vary with --on real, -o or --timeout",
                 "omit them: --vary compares simulated times, and keeps nothing else"};
  }
  ScenarioReading reading = reading_of(arguments);
  // A layout that does not fit may be the start of the search.
  reading.checks_memory = false;
  RINGSIDE_TRY(const Scenario scenario, load_scenario(arguments.file, reading));
  RINGSIDE_TRY(study::Sweep sweep,
               study::sweep_of_scenario(scenario, arguments.file, arguments.vary));
  RINGSIDE_TRY(const TemporaryFolder folder, TemporaryFolder::make("vary"));
  RINGSIDE_TRY(
      const auto report,
      run_sweep(std::move(sweep), folder.path(),
                {.method = {.fidelity = arguments.fidelity, .version = RINGSIDE_VERSION}}));
  if (!report) return kFine;
  fmt::print("{}", arguments.json ? to_text(sweep_document(*report)) : sweep_text(*report));
  return sweep_status(*report);
}

VerbResult run(const RunArguments& arguments) {
  if (arguments.timeout_s <= 0 || arguments.timeout_s > 86400) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--timeout {}", arguments.timeout_s),
                 "give seconds, up to a day"};
  }
  if (is_script(arguments)) {
    if (arguments.json || arguments.on != "sim" || !arguments.vary.empty()) {
      return Error{ErrorCode::InvalidArgument, "--json, --on or --vary with a script",
                   "omit it: a script runs on processes of this machine"};
    }
    const bool has_timeout = !std::isnan(arguments.timeout_s);
    return run_script(arguments.file, arguments.script, arguments.folder,
                      has_timeout ? std::optional(arguments.timeout_s) : std::nullopt);
  }
  if (arguments.script.is_any()) {
    return Error{ErrorCode::InvalidArgument, "-n, --fault or words behind the file with a scenario",
                 "write ranks and faults into the scenario; these options are for scripts (.py)"};
  }
  if (!arguments.vary.empty()) return run_variants(arguments);
  study::ScenarioQuestion question;
  RINGSIDE_TRY(question.scenario, load_scenario(arguments.file, reading_of(arguments)));
  question.is_real = arguments.on == "real";
  question.folder = arguments.folder;
  question.fidelity = arguments.fidelity;
  if (!std::isnan(arguments.timeout_s)) question.timeout = Seconds{arguments.timeout_s};
  RINGSIDE_TRY(const ScenarioOutcome outcome, study::run_scenario(question));
  if (!outcome.reports) return kFine;
  if (arguments.json) {
    fmt::print("{}", to_text(outcome_document(question.scenario, outcome, arguments)));
  } else {
    print_outcome(question.scenario, outcome, arguments);
  }
  if (outcome.is_anything_expected) return outcome.unmet.empty() ? kFine : kFinding;
  return outcome.end == ScenarioOutcome::End::Finished ? kFine : kFinding;
}

}  // namespace

Verb run_verb() {
  return {
      "run",
      "Run a scenario, on real ranks or simulated ones, and compare with what it expects; or a "
      "script of PyTorch",
      {"ringside run scenarios/hangs/skipped-collective.yaml",
       "ringside run scenarios/buying/jobs/llama3-70b-512.yaml --vary layout=auto"},
      [](Options& app) {
        auto arguments = std::make_shared<RunArguments>();
        RunArguments& a = *arguments;
        app.add_option(
               "file", a.file,
               "a scenario/1 (docs/reference/scenarios.md), a hang-program/1, or a script of "
               "PyTorch (.py; docs/tutorials/pytorch.md)")
            ->required();
        app.add_option("--on", a.on,
                       "sim: in simulated time; real: processes of this machine, or those of "
                       "the launcher that started this one; else simulated on these hosts, as "
                       "--on of sim takes them, in place of the scenario's")
            ->capture_default_str();
        app.add_option(
            "-o,--output", a.folder,
            "keep what the run leaves (dumps, logs, a trace) in this new or empty folder");
        app.add_option("--fidelity", a.fidelity, "of simulated calls, as sim has it")
            ->capture_default_str();
        app.add_option("--vary", a.vary,
                       "KEY=V1,V2: compare step times, as a sweep does; repeatable. layout=auto: "
                       "all splits over tensor, pipeline and data that fit; on=PRESET,...: other "
                       "hosts with their GPUs; workload.KEY; else as --vary of sim")
            ->allow_extra_args(false);
        app.add_option("--timeout", a.timeout_s,
                       "real, script: seconds in which nothing moves until a call fails (default: "
                       "the scenario's watchdog, else 2 beyond its faults; the script's)");
        app.add_flag("--json", a.json, "one JSON document on stdout");
        app.add_option("-n,--ranks", a.script.ranks,
                       "script: processes to start (2); each line that one writes is printed as "
                       "[rank 2] LINE");
        add_fault_options(app, a.script.faults);
        app.add_option("--python", a.script.python, "script: the Python that has PyTorch")
            ->capture_default_str();
        app.add_option("arguments", a.script.words,
                       "script: its own arguments; those with dashes after --");
        return [arguments] { return run(*arguments); };
      }};
}

}  // namespace ringside::cli
