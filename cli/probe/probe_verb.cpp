#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/json.h"
#include "base/text.h"
#include "base/write_file.h"
#include "cli/command_line.h"
#include "cli/options.h"
#include "cli/probe/probe_report.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "engine/runtime/bootstrap/launch.h"
#include "engine/runtime/host/host_identity.h"
#include "engine/topology/sources/nvml_source.h"
#include "harness/job.h"
#include "harness/probe/read_machine.h"
#include "harness/rank_binder.h"

namespace ringside::cli {
namespace {

using audit::Finding;
using audit::Severity;

struct ProbeArguments {
  std::optional<int> ranks;
  bool hosts = false, pairs = false, json = false;
  std::string bind = "auto";
  std::string plot;
  std::string color = "auto";
  std::string timeout = "8s";
  std::string size = "4M";
};

ProbeStyle style_of(const ProbeArguments& arguments) {
  ProbeStyle style;
  winsize window{};
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  constexpr int kNarrowest = 40, kWidest = 160;
  if (is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    style.width = std::clamp(static_cast<int>(window.ws_col), kNarrowest, kWidest);
  }
  style.has_colour = arguments.color == "always" ||
                     (arguments.color == "auto" && is_terminal && !env_text("NO_COLOR"));
  return style;
}

void add_all(std::vector<Finding>& all, const std::vector<Finding>& more) {
  for (const Finding& one : more) {
    // The same finding on several hosts is one finding.
    const auto alike = std::find_if(all.begin(), all.end(), [&](const Finding& known) {
      return known.id == one.id && known.title == one.title;
    });
    if (alike == all.end()) {
      all.push_back(one);
      continue;
    }
    for (const std::string& host : one.hosts) {
      if (std::find(alike->hosts.begin(), alike->hosts.end(), host) == alike->hosts.end())
        alike->hosts.push_back(host);
    }
  }
}

int status_of(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& one) { return one.severity >= Severity::Warning; })
             ? kFinding
             : kFine;
}

/// One rank of a job: all report their hosts, and the printing rank compares them.
Result<int> run_rank(JobRank& rank, const ProbeArguments& arguments, const probe::Machine& machine,
                     const std::vector<Finding>& found) {
  const probe::HostReport mine{.host = machine.host,
                               .identity = host_identity(),
                               .traits = probe::traits_of(machine),
                               .findings = found};
  RINGSIDE_TRY(const std::vector<probe::HostReport> ranks,
               probe::exchange(rank.communicator, mine));
  std::optional<probe::PairMatrix> matrix;
  if (arguments.pairs) {
    Progress progress("pairs");
    RINGSIDE_TRY(const Bytes large, parse_bytes(arguments.size));
    probe::PairOptions options{.large = large};
    if (rank.prints_results) options.on_progress = [&](double share) { progress.show(share); };
    RINGSIDE_TRY(matrix, probe::measure_pairs(rank.communicator, options, ranks));
  }
  if (!rank.prints_results) return kFine;
  const std::vector<probe::HostReport> hosts = probe::one_a_host(ranks);
  std::vector<Finding> findings;
  for (const probe::HostReport& host : hosts) add_all(findings, host.findings);
  add_all(findings, probe::judge_hosts(hosts));
  if (matrix) add_all(findings, probe::judge_pairs(*matrix));
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  if (matrix && !arguments.plot.empty())
    RINGSIDE_TRY(write_file(arguments.plot, pairs_svg(*matrix)));
  const probe::Plan plan = probe::plan_of(machine);
  if (arguments.json) {
    Json document = probe_json(machine, plan, findings);
    document["nranks"] = ranks.size();
    document.update(hosts_json(ranks));
    if (matrix) {
      document["pairs"] = pairs_json(*matrix);
      document["bound_to"] = cores_json(*matrix);
    }
    fmt::print("{}", to_text(document));
    return status_of(findings);
  }
  const ProbeStyle style = style_of(arguments);
  fmt::print("{}{}", probe_text(machine, plan, style), hosts_text(ranks, style));
  if (matrix) fmt::print("{}", pairs_text(*matrix, style));
  if (matrix && !arguments.plot.empty()) fmt::print("drawn in {}\n", arguments.plot);
  fmt::print("{}", probe_findings_text(findings, style));
  return status_of(findings);
}

VerbResult run(const ProbeArguments& arguments) {
  if (!arguments.plot.empty() && !arguments.pairs) {
    return Error{ErrorCode::InvalidArgument, "--plot draws the pairs, and they are not measured",
                 "add --pairs"};
  }
  RINGSIDE_TRY(const Bytes large, parse_bytes(arguments.size));
  constexpr std::uint64_t kMost = 1ULL << 30;
  if (large.value < 8 || large.value > kMost) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--size {}", arguments.size),
                 "give 8 to 1G"};
  }
  if (arguments.ranks && (*arguments.ranks < 1 || *arguments.ranks > 1024)) {
    return Error{ErrorCode::InvalidArgument, fmt::format("-n {}", *arguments.ranks),
                 "give 1 to 1024"};
  }
  RINGSIDE_TRY(const auto launch, launch_from_environment());
  const bool is_job = launch || arguments.ranks;
  if (!is_job && (arguments.hosts || arguments.pairs)) {
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("{} compares ranks, and there is one", arguments.hosts ? "--hosts" : "--pairs"),
        "start it by mpirun, torchrun or srun, or with -n on this host"};
  }
  // Before ranks are forked, so that they need not read it again.
  RINGSIDE_TRY(probe::Sources sources, probe::sources_here());
  const std::unique_ptr<NvmlDriver> nvml = open_nvml();
  sources.nvml = nvml.get();
  const probe::Machine machine = probe::read_machine(sources);
  const std::vector<Finding> findings = probe::judge(machine);
  if (is_job) {
    ringside::JobOptions job;
    job.local_ranks = arguments.ranks;
    RINGSIDE_TRY(job.join_timeout, parse_time(arguments.timeout));
    job.communicator.connect_timeout = job.join_timeout;
    job.communicator.check_calls = false;  // pairs make calls that others do not
    RINGSIDE_TRY(job.on_stage, rank_binder(arguments.bind, arguments.ranks.has_value()));
    job.command = command_line();
    return run_job(job,
                   [&](JobRank& rank) { return run_rank(rank, arguments, machine, findings); });
  }
  const probe::Plan plan = probe::plan_of(machine);
  if (arguments.json) {
    fmt::print("{}", to_text(probe_json(machine, plan, findings)));
  } else {
    const ProbeStyle style = style_of(arguments);
    fmt::print("{}{}", probe_text(machine, plan, style), probe_findings_text(findings, style));
  }
  return status_of(findings);
}

}  // namespace

Verb probe_verb() {
  return {"probe",
          "What this machine, or the hosts of a job, have to communicate with, and what is wrong",
          {"ringside probe", "ringside probe -n 2 --pairs --size 64K"},
          [](Options& app) {
            auto arguments = std::make_shared<ProbeArguments>();
            ProbeArguments& a = *arguments;
            app.add_flag("--hosts", a.hosts,
                         "compare the hosts of the job (under mpirun, torchrun or Slurm it does "
                         "anyway)");
            app.add_option("-n,--ranks", a.ranks, "local processes, in place of a launcher's");
            app.add_flag("--pairs", a.pairs,
                         "latency and bandwidth between all ranks, as a matrix; no two pairs "
                         "share a host at a time");
            app.add_option("--size", a.size, "of a message that bandwidth is measured with")
                ->capture_default_str();
            app.add_option("--bind", a.bind,
                           "ranks to cores, as of bench: auto (with -n), core or none")
                ->capture_default_str();
            app.add_output("--plot", a.plot, ContentKind::Svg,
                           "draw the matrix into this SVG file");
            app.add_option("--timeout", a.timeout, "how long the next rank may take to join")
                ->capture_default_str();
            app.add_flag("--json", a.json, "one JSON document on stdout");
            app.add_option("--color", a.color, "auto, always, never")
                ->check_words({"auto", "always", "never"})
                ->capture_default_str();
            return [arguments] { return run(*arguments); };
          }};
}

}  // namespace ringside::cli
