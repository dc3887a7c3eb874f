#include "cli/generate/generate_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/release_note.h"
#include "engine/releases/releases.h"
#include "harness/logs/log_files.h"
#include "harness/logs/truth_file.h"
#include "harness/logs/write_diagnostics.h"
#include "study/job_settings.h"

namespace ringside::cli {
namespace {

Result<LogRequest> request_of(const LogOptions& options) {
  const JobOptions& job = options.job;
  LogRequest request;
  RINGSIDE_TRY(request.version, parse_nccl_version(options.version));
  if (!options.subsystems.empty()) {
    RINGSIDE_TRY(request.shown, parse_subsystems(options.subsystems));
  }
  // These variables only change what the log contains: the job is simulated without them.
  JobOptions deciding = job;
  std::erase_if(deciding.set, [](const std::string& setting) {
    return std::ranges::find(diagnostics_variables(), setting.substr(0, setting.find('='))) !=
           diagnostics_variables().end();
  });
  RINGSIDE_TRY(request.environment, environment_of(deciding));
  RINGSIDE_TRY(request.hosts, study::load_job_hosts(deciding));
  RINGSIDE_TRY(const study::JobSettings settings, study::parse_job_settings(job.set));
  request.settings = study::logged_settings(settings.variables);
  request.repeat = options.repeat;
  request.calls = options.calls;
  request.seed = options.seed;
  request.is_stdout = options.interleave;
  return request;
}

void list_misconfigurations() {
  for (const Misconfiguration& listed : misconfigurations()) {
    fmt::print("{:<16} {}\n", listed.name, listed.what);
  }
}

void print_summary(const LogJob& job, const LogTruth& truth, const WrittenLogs& files,
                   const std::string& folder) {
  fmt::print("{}: {} ranks on {} hosts, NCCL {}: {} lines, {} bytes in {} file{}\n", folder,
             job.processes().size(), job.hosts().size(), to_string(job.request().version),
             files.lines, files.bytes, files.files, files.files == 1 ? "" : "s");
  if (truth.findings.empty()) fmt::print("nothing is wrong with it\n");
  for (const LogTruth::Finding& finding : truth.findings) {
    std::vector<std::string> hosts;
    for (const int host : finding.hosts) {
      hosts.push_back(job.hosts()[static_cast<std::size_t>(host)].name);
    }
    fmt::print("{} {}: {} ({})\n", finding.severity, finding.id, finding.why,
               hosts.empty() ? "all hosts" : fmt::format("{}", fmt::join(hosts, ", ")));
  }
}

Json document(const WrittenLogs& files, const LogOptions& options) {
  return {{"schema", "ringside.generate/1"},
          {"what", "logs"},
          {"folder", options.folder},
          {"seed", options.seed},
          {"files", files.files},
          {"lines", files.lines},
          {"bytes", files.bytes},
          {"truth", {options.folder + "/truth.json"}}};
}

}  // namespace

void add_log_options(Options& app, LogOptions& options) {
  app.add_option("-o,--out", options.folder, "the folder to write into");
  add_job_options(app, options.job)->required(false);  // --break help asks about no job
  app.add_option("--nccl", options.version,
                 fmt::format("as which version of NCCL (2.{} .. {})", kOldestLogMinor,
                             release_versions().front()))
      ->capture_default_str();
  app.add_option("--break", options.misconfiguration,
                 "what is wrong with the job; `help` lists it");
  app.add_option("--subsys", options.subsystems, "as NCCL_DEBUG_SUBSYS: INIT,GRAPH,NET or ALL");
  app.add_flag("--interleave", options.interleave, "all ranks in one file, as a launcher collects");
  app.add_option("--repeat", options.repeat,
                 "communicators more: so many for each node, and for each place in the nodes")
      ->check_range(0, 100);
  app.add_option("--calls", options.calls,
                 "collectives of each communicator; COLL and TUNING show them")
      ->check_range(0, 1'000'000);
  app.add_option("--seed", options.seed, "of pids, pointers, and the order of lines")
      ->capture_default_str();
  app.add_flag("--json", options.json, "one JSON document on stdout");
}

VerbResult generate_logs(const LogOptions& options) {
  if (options.misconfiguration == "help") {
    list_misconfigurations();
    return kFine;
  }
  if (options.job.on.empty()) {
    return Error{ErrorCode::InvalidArgument, "--on is required",
                 "see ringside generate logs --help"};
  }
  if (options.folder.empty()) {
    return Error{ErrorCode::InvalidArgument, "no folder to write into", "name one: -o logs/"};
  }
  note_unverified(options.version);
  RINGSIDE_TRY(LogRequest request, request_of(options));
  LogTruth truth;
  if (!options.misconfiguration.empty()) {
    RINGSIDE_TRY(truth, misconfigure(options.misconfiguration, request));
  }
  RINGSIDE_TRY(const LogJob job, LogJob::make(std::move(request)));
  add_nature(job, truth);
  const auto write = options.interleave ? write_joined_log : write_log_files;
  Progress progress("logs");
  const auto show = [&](std::size_t done, std::size_t all) {
    progress.show(static_cast<double>(done) / static_cast<double>(all));
  };
  RINGSIDE_TRY(const WrittenLogs files, write(job, options.folder, show));
  progress.erase();
  RINGSIDE_TRY(write_truth(job, truth, options.folder));
  if (options.json) {
    fmt::print("{}", to_text(document(files, options)));
  } else {
    print_summary(job, truth, files, options.folder);
  }
  return kFine;
}

}  // namespace ringside::cli
