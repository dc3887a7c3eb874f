#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.h"
#include "base/write_file.h"
#include "cli/options.h"
#include "cli/sweep/sweep_page.h"
#include "cli/sweep/sweep_run.h"
#include "cli/sweep/sweep_tables.h"
#include "cli/verb.h"
#include "study/sweep/sweep_report.h"

namespace ringside::cli {
namespace {

namespace fs = std::filesystem;

struct SweepArguments {
  std::string file;
  std::string folder;
  SweepOptions run{.method = {.fidelity = "auto", .version = RINGSIDE_VERSION}};
  bool json = false;
};

VerbResult run(const SweepArguments& arguments) {
  if (arguments.run.jobs < 0 || arguments.run.jobs > 4096) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--jobs {}", arguments.run.jobs),
                 "give 1 to 4096, or omit it: one a core"};
  }
  if (!(arguments.run.limit_s > 0) || arguments.run.limit_s > 1e7) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--limit {}", arguments.run.limit_s),
                 "give seconds, above 0"};
  }
  RINGSIDE_TRY(study::Sweep sweep, study::load_sweep(arguments.file));
  const std::string folder = arguments.folder.empty()
                                 ? fs::path(arguments.file).stem().string() + ".sweep"
                                 : arguments.folder;
  RINGSIDE_TRY(const auto found, run_sweep(std::move(sweep), folder, arguments.run));
  if (!found) return kFine;
  const study::SweepReport& report = *found;
  const Json document = sweep_document(report);
  const auto file = [&folder](const char* name) { return (fs::path(folder) / name).string(); };
  RINGSIDE_TRY(write_file(file("points.csv"), sweep_csv(report)));
  RINGSIDE_TRY(write_file(file("points.json"), to_text(document)));
  RINGSIDE_TRY(write_file(file("index.html"), sweep_page(report)));
  if (arguments.json) {
    fmt::print("{}", to_text(document));
  } else {
    fmt::print("{}written: {}, points.csv, points.json\n", sweep_text(report), file("index.html"));
  }
  return sweep_status(report);
}

}  // namespace

Verb sweep_verb() {
  return {
      "sweep",
      "Simulate a job on many clusters, with many settings; which is fastest, which is cheapest?",
      {"ringside sweep scenarios/buying/tcp-or-rdma.yaml -o tcp-or-rdma.sweep",
       "ringside sweep scenarios/buying/tcp-or-rdma.yaml -o tcp-or-rdma.sweep --report-only"},
      [](Options& app) {
        auto arguments = std::make_shared<SweepArguments>();
        SweepArguments& a = *arguments;
        app.add_option("file", a.file, "a sweep/1 (docs/reference/sweep.md)")->required();
        app.add_option("-o,--output", a.folder,
                       "folder for results and report (default: the file's name with .sweep); "
                       "what is done there is not done again");
        app.add_option("-j,--jobs", a.run.jobs, "points at once (default: one a core)");
        app.add_option("--fidelity", a.run.method.fidelity, "of simulated calls, as sim has it")
            ->capture_default_str();
        app.add_option("--limit", a.run.limit_s, "seconds that a point may take")
            ->capture_default_str();
        app.add_flag("--report-only", a.run.is_report_only, "write the report of what is done");
        app.add_flag("--force", a.run.is_forced, "write into a folder with other files in it");
        app.add_flag("--json", a.json, "one JSON document on stdout");
        return [arguments] { return run(*arguments); };
      }};
}

}  // namespace ringside::cli
