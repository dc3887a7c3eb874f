#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/output_file.h"
#include "cli/app.h"
#include "cli/options.h"
#include "cli/verb.h"

namespace ringside::cli {
namespace {

/// One part of the demo: its title, and the command as a user would type it.
struct Act {
  std::string title;
  std::vector<std::string> words;
  bool writes = false;  ///< whether it writes a file
  /// The folder that it makes; an earlier demo may have made it.
  std::string makes = {};
  int expected = kFine;  ///< exit status
};

std::vector<Act> acts(const std::string& folder) {
  const std::string real = folder + "/demo-real.rtrace";
  const std::string simulated = folder + "/demo-sim.rtrace";
  const std::string hung = folder + "/demo-hang";
  const std::string logs = folder + "/demo-logs";
  return {
      {"A real all-reduce: 4 processes on this machine, through shared memory, every element "
       "checked",
       {"bench", "all_reduce", "-n", "4", "-b", "8", "-e", "16M", "-f", "8", "--trace", real},
       true},
      {"The same algorithm, simulated on 2 DGX-H100 nodes (16 GPUs, 8 x 400 Gbit/s NICs a node)",
       {"sim", "all_reduce", "--bytes", "8:1G:8", "--on", "dgx-h100", "--nodes", "2"}},
      {"One of its sizes again, with every step of every GPU written down",
       {"sim", "all_reduce", "--bytes", "64M", "--on", "dgx-h100", "--nodes", "2", "--trace",
        simulated},
       true},
      {"What the ranks of the real run did", {"trace", "info", real}},
      {"The simulated run for a trace viewer", {"trace", "export", "--perfetto", simulated}, true},
      {"A training job that hangs: 8 simulated ranks, of which one skips a call, leave dumps and "
       "logs",
       {"run", "scenarios/hangs/skipped-collective.yaml", "-o", hung},
       false,
       hung},
      {"Which rank caused it, and why", {"hang", hung}, false, {}, kFinding},
      {"A slow job: its debug logs, made up, of 2 hosts whose GPUDirect RDMA does not work",
       {"generate", "logs", "--on", "dgx-h100", "--nodes", "2", "--break", "gdr", "-o", logs},
       false,
       logs},
      {"What is wrong in these logs, what it costs, and the fix",
       {"audit", logs},
       false,
       {},
       kFinding},
  };
}

struct Arguments {
  std::string folder = ".";
  bool is_forced = false;
};

/// Makes the folder if it does not exist.
/// errors  InvalidArgument: it cannot be made
Status make_folder(const std::string& folder) {
  std::error_code failed;
  if (std::filesystem::is_directory(folder, failed)) return {};
  std::filesystem::create_directories(folder, failed);
  if (!failed) return {};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("--dir {}: cannot be made: {}", folder, failed.message()),
               "name a folder where you may write"};
}

/// Checks every output before anything runs: the last act writes next to the file that it reads.
Status check_outputs(const Arguments& arguments) {
  if (arguments.is_forced) return {};
  for (const auto& [name, kind] : {std::pair{"demo-real.rtrace", ContentKind::Trace},
                                   std::pair{"demo-sim.rtrace", ContentKind::Trace},
                                   std::pair{"demo-sim.json", ContentKind::PerfettoJson}}) {
    RINGSIDE_TRY(check_output(
        {.option = "--dir", .path = arguments.folder + "/" + name, .kind = kind}, {}, false));
  }
  return {};
}

VerbResult run(const Arguments& arguments) {
  const std::string& folder = arguments.folder;
  RINGSIDE_TRY(make_folder(folder));
  RINGSIDE_TRY(check_outputs(arguments));
  int number = 0;
  for (const Act& act : acts(folder)) {
    fmt::print("\n{}. {}\n   $ ringside {}\n\n", ++number, act.title, fmt::join(act.words, " "));
    std::fflush(stdout);
    if (std::error_code ignored;
        !act.makes.empty() && std::filesystem::exists(act.makes, ignored)) {
      fmt::print("{} is there already.\n", act.makes);
      continue;
    }
    std::vector<std::string> words = act.words;
    if (arguments.is_forced && act.writes) words.emplace_back("--force");
    const int status = run_words(std::move(words));
    std::fflush(stdout);
    if (status != act.expected) return status;
  }
  fmt::print(
      "\nThe real run and the simulated one walked the same texts, those of engine/collectives. "
      "Next:\n"
      "  ringside hang {0}/demo-hang --html hang.html       the verdict as a page; ringside hang "
      "your-dumps/\n"
      "  ringside bench all_gather -n 2 --transport tcp     another collective, another transport\n"
      "  ringside trace export --perfetto {0}/demo-real.rtrace\n"
      "                                                     then open the .json in "
      "ui.perfetto.dev\n"
      "  ringside gui {0}/demo-real.rtrace                  watch it (./run gui builds the "
      "window)\n"
      "  ringside trace export --html run.html {0}/demo-real.rtrace   or in any browser\n"
      "  ringside --help                                    all verbs\n",
      folder);
  return kFine;
}

}  // namespace

Verb demo_verb() {
  return {
      "demo",
      "Show in a minute what there is: real and simulated runs, why a job hung, what its logs say",
      {"ringside demo", "ringside demo --dir /tmp"},
      [](Options& app) {
        auto arguments = std::make_shared<Arguments>();
        app.add_option("--dir", arguments->folder, "where the traces go; made if it does not exist")
            ->capture_default_str();
        app.add_flag("--force", arguments->is_forced, "overwrite a file of another kind");
        return [arguments] { return run(*arguments); };
      }};
}

}  // namespace ringside::cli
