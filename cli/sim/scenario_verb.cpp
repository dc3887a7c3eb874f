#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/folder.h"
#include "base/json.h"
#include "base/wording.h"
#include "base/write_file.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "harness/hangs/program.h"
#include "harness/scenario/scenario.h"
#include "study/host_gpu.h"
#include "study/interchange/chakra_export.h"
#include "study/interchange/import.h"

namespace ringside::cli {
namespace {

struct ScenarioArguments {
  std::vector<std::string> paths;
  std::string file, output, folder;
  bool json = false;
};

VerbResult import(const ScenarioArguments& arguments) {
  RINGSIDE_TRY(const study::ImportedScenario made, study::import_scenario(arguments.paths));
  const std::string text = to_yaml(made.scenario, made.unknown);
  // Check that the written text can be read.
  RINGSIDE_TRY([[maybe_unused]] const Scenario scenario, parse_scenario(text, "the scenario"));
  if (!arguments.output.empty()) RINGSIDE_TRY(write_file(arguments.output, text));
  if (arguments.json) {
    Json document{{"schema", "ringside.scenario/1"},
                  {"format", made.format},
                  {"scenario", nullptr},
                  {"nranks", made.scenario.outline.ranks},
                  {"steps", made.scenario.outline.steps.size()},
                  {"unknown", made.unknown}};
    if (!arguments.output.empty()) document["scenario"] = arguments.output;
    fmt::print("{}", to_text(document));
  } else if (arguments.output.empty()) {
    fmt::print("{}", text);
  } else {
    fmt::print("{}: {} of {}, from {}\n", arguments.output,
               plural(made.scenario.outline.steps.size(), "step", "steps"),
               plural(static_cast<std::size_t>(made.scenario.outline.ranks), "rank", "ranks"),
               made.format);
    for (const std::string& one : made.unknown) fmt::print("not known  {}\n", one);
  }
  return kFine;
}

VerbResult export_to_chakra(const ScenarioArguments& arguments) {
  RINGSIDE_TRY(const Scenario scenario, load_scenario(arguments.file, study::scenario_reading()));
  const hangs::Program program = hangs::make_program(scenario.outline);
  RINGSIDE_TRY(make_empty_folder(arguments.folder));
  std::size_t files = 0;
  const auto write = [&](const std::string& name, const std::string& bytes) {
    ++files;
    return write_file((std::filesystem::path(arguments.folder) / name).string(), bytes);
  };
  RINGSIDE_TRY(const std::vector<std::string> left_out, study::export_chakra(program, write));
  if (!scenario.faults.faults.empty()) {
    fmt::print(stderr, "note: faults are omitted: the traces are of the healthy job\n");
  }
  for (const std::string& one : left_out) fmt::print(stderr, "note: omitted: {}\n", one);
  fmt::print("{}: {}, Chakra 0.0.4\n", arguments.folder, plural(files, "file", "files"));
  return kFine;
}

}  // namespace

Verb scenario_verb() {
  return {
      "scenario",
      "Take a job from others' traces, or give it to others' simulators",
      {"ringside scenario import dumps/ -o job.yaml",
       "ringside scenario export scenarios/training/ddp-8.yaml -o chakra/"},
      [](Options& app) {
        auto arguments = std::make_shared<ScenarioArguments>();
        ScenarioArguments& a = *arguments;
        Options* in = app.add_subcommand(
            "import",
            "A scenario of what ranks were recorded to call: Chakra execution traces, traces of "
            "PyTorch's profiler, flight recorder dumps, NCCL's logs with COLL lines");
        in->add_option("what", a.paths, "files and folders of one job")->required();
        in->add_output("-o,--output", a.output, ContentKind::Scenario,
                       "the scenario to write (default: on stdout)");
        in->add_flag("--json", a.json, "one JSON document on stdout: what was read");
        Options* out = app.add_subcommand(
            "export", "Chakra execution traces, one a rank, as ASTRA-sim and others take them");
        out->add_option("file", a.file, "the scenario")->required();
        out->add_option("-o,--output", a.folder, "a new or empty folder")->required();
        return [arguments, in] {
          return in->parsed() ? import(*arguments) : export_to_chakra(*arguments);
        };
      }};
}

}  // namespace ringside::cli
