#include "cli/topo_logs.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/text.h"
#include "cli/progress.h"
#include "engine/debuglog/log_files.h"
#include "engine/topology/load_hosts.h"

namespace ringside::cli {
namespace {

/// The variables of --set, which the log echoes.
std::vector<Setting> settings_of(const JobOptions& options) {
  std::vector<Setting> settings;
  for (const std::string& text : options.set) {
    const std::size_t equals = text.find('=');
    if (equals + 1 < text.size()) {
      settings.push_back({text.substr(0, equals), text.substr(equals + 1)});
    }
  }
  return settings;
}

Result<LogRequest> request_of(const JobOptions& job, const LogOptions& options) {
  LogRequest request;
  RINGSIDE_TRY(request.version, parse_nccl_version(options.version));
  if (!options.subsystems.empty()) {
    RINGSIDE_TRY(request.shown, parse_subsystems(options.subsystems));
  }
  RINGSIDE_TRY(request.environment, environment_of(job));
  RINGSIDE_TRY(request.hosts, load_hosts(job.on, job.nodes, job.nvl_domain));
  for (const HostRun& run : request.hosts.runs) {
    if (!gpus_of(run.host).empty()) continue;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} has no GPU that takes part", run.host.name),
                 "give hosts with GPUs, such as dgx-h100"};
  }
  request.settings = settings_of(job);
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

void tell(const LogJob& job, const LogTruth& truth, const LogFiles& files,
          const std::string& folder) {
  fmt::print("{}: {} ranks on {} hosts, NCCL {}: {} lines, {} bytes in {} file{}\n", folder,
             job.processes().size(), job.hosts().size(), to_string(job.request().version),
             files.lines, files.bytes, files.files, files.files == 1 ? "" : "s");
  if (truth.findings.empty()) fmt::print("nothing is wrong with it\n");
  for (const LogTruth::Finding& finding : truth.findings) {
    std::string where = finding.hosts.empty() ? "all hosts" : "";
    for (const int host : finding.hosts) {
      where += job.hosts()[static_cast<std::size_t>(host)].name;
    }
    fmt::print("{} {}: {} ({})\n", finding.severity, finding.id, finding.why, where);
  }
}

}  // namespace

void add_log_options(CLI::App& app, LogOptions& options) {
  const auto logs = app.add_option("--logs", options.folder,
                                   "write the debug log of every rank into this folder");
  app.add_option("--nccl", options.version, "as which version of NCCL (2.7 .. 2.30)")
      ->capture_default_str()
      ->needs(logs);
  app.add_option("--break", options.misconfiguration,
                 "what is wrong with the job; `help` lists it");
  app.add_option("--subsys", options.subsystems, "as NCCL_DEBUG_SUBSYS: INIT,GRAPH,NET or ALL")
      ->needs(logs);
  app.add_flag("--interleave", options.interleave, "all ranks in one file, as a launcher collects")
      ->needs(logs);
  app.add_option("--repeat", options.repeat,
                 "communicators more: so many for each node, and for each place in the nodes")
      ->check(CLI::Range(0, 100))
      ->needs(logs);
  app.add_option("--calls", options.calls,
                 "collectives of each communicator; COLL and TUNING show them")
      ->check(CLI::Range(0, 1'000'000))
      ->needs(logs);
  app.add_option("--seed", options.seed, "of pids, pointers, and the order of lines")
      ->capture_default_str()
      ->needs(logs);
}

Status write_logs(const JobOptions& job_options, const LogOptions& options) {
  if (options.misconfiguration == "help") {
    list_misconfigurations();
    return {};
  }
  RINGSIDE_TRY(LogRequest request, request_of(job_options, options));
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
  RINGSIDE_TRY(const LogFiles files, write(job, options.folder, show));
  progress.erase();
  RINGSIDE_TRY(write_truth(job, truth, options.folder));
  tell(job, truth, files, options.folder);
  return {};
}

}  // namespace ringside::cli
