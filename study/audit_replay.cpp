#include "study/audit_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/folder.h"
#include "base/write_file.h"
#include "diag/audit/audit.h"
#include "diag/audit/cost.h"
#include "diag/audit/expected_job.h"
#include "engine/topology/sources/nccl_xml.h"
#include "study/interchange/import.h"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

class Replayer {
 public:
  Replayer(const ReplayOptions& options, Scenario calls)
      : options_(options), calls_(std::move(calls)) {}

  /// Writes the hosts' descriptions, and returns the scenario of the calls on them.
  [[nodiscard]] Result<Scenario> make(const audit::AsFound& found, const std::string& name) const {
    Scenario scenario = calls_;
    scenario.name = name;
    scenario.about = "the job's calls, " + found.text;
    for (std::size_t i = 0; i < found.hosts.runs.size(); ++i) {
      const HostRun& run = found.hosts.runs[i];
      const std::string path =
          path_of(fmt::format("{}-host{}.xml", name, i == 0 ? "" : fmt::format("-{}", i)));
      RINGSIDE_TRY(write_file(path, to_nccl_xml(run.host)));
      scenario.on += fmt::format("{}{}:{}", scenario.on.empty() ? "" : ",", path, run.count);
    }
    for (const auto& [variable, value] : found.variables) {
      scenario.set.push_back(variable + "=" + value);
    }
    return scenario;
  }

  /// Writes the scenario too, and runs it.
  [[nodiscard]] Result<Replayed> run(const audit::AsFound& found, const std::string& name) const {
    RINGSIDE_TRY(const Scenario scenario, make(found, name));
    Replayed done{.what = found.text, .scenario = path_of(name + ".yaml")};
    RINGSIDE_TRY(write_file(done.scenario, to_yaml(scenario)));
    RINGSIDE_TRY(const ScenarioOutcome outcome,
                 run_scenario({.scenario = scenario, .fidelity = options_.fidelity}));
    if (!outcome.times) {
      return Error{ErrorCode::InvalidArgument, "the calls that were logged do not fit each other",
                   "logs of one whole job are needed; of one that hangs: ringside reproduce"};
    }
    done.time = outcome.times->step;
    return done;
  }

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const {
    return (fs::path(options_.folder) / name).string();
  }

  const ReplayOptions& options_;
  const Scenario calls_;
};

/// A job as logs describe it.
struct Logged {
  audit::Audit audited;
  audit::ExpectedJob expected;
  ImportedScenario imported;
};

Result<Logged> read_logs(const ReplayOptions& options) {
  RINGSIDE_TRY(audit::Audit audited, audit::audit_logs(options.logs, {}));
  RINGSIDE_TRY(audit::ExpectedJob expected, audit::expected_job(audited.facts, options.cluster));
  RINGSIDE_TRY(ImportedScenario imported, import_scenario(options.logs, options.keep));
  RINGSIDE_TRY(make_empty_folder(options.folder));
  return Logged{std::move(audited), std::move(expected), std::move(imported)};
}

/// Returns whether the finding is severe enough to be replayed.
bool is_cause(const audit::Finding& finding) {
  return finding.severity >= audit::Severity::Warning;
}

}  // namespace

Result<LoggedJob> job_of_logs(const ReplayOptions& options) {
  RINGSIDE_TRY(Logged logged, read_logs(options));
  audit::AsFound all{.hosts = logged.expected.hosts, .text = "on its hosts as they were found"};
  for (const audit::Finding& finding : logged.audited.findings) {
    if (!is_cause(finding)) continue;
    auto found = audit::as_found(finding, logged.audited.facts, all.hosts);
    if (!found) continue;
    all.hosts = std::move(found->hosts);
    all.variables.merge(found->variables);
  }
  const Replayer replayer(options, std::move(logged.imported.scenario));
  LoggedJob job{.source = logged.expected.source,
                .scenario = {},
                .findings = std::move(logged.audited.findings),
                .unknown = std::move(logged.imported.unknown)};
  RINGSIDE_TRY(job.scenario, replayer.make(all, "logged-job"));
  return job;
}

Result<AuditReplay> replay_findings(const ReplayOptions& options) {
  RINGSIDE_TRY(Logged logged, read_logs(options));
  const auto& [audited, expected, imported] = logged;
  AuditReplay replay{.source = expected.source, .healthy = {}, .unknown = imported.unknown};
  const Replayer replayer(options, std::move(logged.imported.scenario));
  RINGSIDE_TRY(replay.healthy,
               replayer.run({.hosts = expected.hosts, .text = "as it should be"}, "healthy"));
  audit::AsFound all{.hosts = expected.hosts, .text = "all of them together"};
  std::set<std::string> tried;  // findings of one kind are one change
  for (const audit::Finding& finding : audited.findings) {
    if (!is_cause(finding)) continue;
    auto found = audit::as_found(finding, audited.facts, expected.hosts);
    if (!found) {
      replay.unmodelled.push_back(finding.id);
      continue;
    }
    if (!tried.insert(found->text).second) continue;
    RINGSIDE_TRY(Replayed one, replayer.run(*found, finding.id));
    one.finding = finding.id;
    one.title = finding.title;
    replay.findings.push_back(std::move(one));
    // Changes of several findings may exclude each other: then this one is not among those of all.
    auto with_others = audit::as_found(finding, audited.facts, all.hosts);
    if (!with_others) continue;
    all.hosts = std::move(with_others->hosts);
    all.variables.merge(with_others->variables);
  }
  std::ranges::stable_sort(replay.findings, std::ranges::greater{}, &Replayed::time);
  if (replay.findings.size() > 1) {
    RINGSIDE_TRY(replay.together, replayer.run(all, "as-found"));
  }
  return replay;
}

}  // namespace ringside::study
