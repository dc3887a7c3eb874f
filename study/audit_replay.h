#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/audit/finding.h"
#include "study/scenario/scenario_run.h"

/// Computes the cost of audit's findings. It simulates the calls that a job logged on healthy hosts
/// and on hosts with the faults found.
namespace ringside::study {

/// The logs of a job, and how its calls are simulated.
struct ReplayOptions {
  std::vector<std::string> logs = {};
  std::string cluster = {};  ///< hosts in the form of --on; empty: hosts derived from the logs
  std::string folder = {};   ///< new or empty folder; receives scenarios and host descriptions
  std::string fidelity = "auto";
  std::size_t keep = 2000;  ///< maximum number of rounds of calls; the last ones are kept
};

/// One simulation of the logged calls.
struct Replayed {
  std::string what = {};      ///< hosts: "as it should be", "without GPUDirect RDMA"
  std::string finding = {};   ///< id of the finding; empty: no finding, or all of them
  std::string title = {};     ///< title of the finding
  std::string scenario = {};  ///< path of the scenario file
  Seconds time{};             ///< total time of the calls
};

/// The simulated times of a job, as it was and with each finding fixed.
struct AuditReplay {
  std::string source = {};  ///< file or logs that describe the hosts
  Replayed healthy;
  std::vector<Replayed> findings = {};    ///< one finding each, the most expensive first
  std::optional<Replayed> together = {};  ///< all findings at once; none if there is at most one
  /// Ids of findings that the simulation model does not cover.
  std::vector<std::string> unmodelled = {};
  /// Information missing in the logs, as text.
  std::vector<std::string> unknown = {};
};

/// The calls that a job logged, on hosts with the faults found.
struct LoggedJob {
  std::string source = {};  ///< file or logs that describe the hosts
  Scenario scenario;        ///< host descriptions are files in the options' folder
  std::vector<audit::Finding> findings = {};
  std::vector<std::string> unknown = {};  ///< information missing in the logs, as text
};

/// Reads the logs and builds the scenario of their calls.
/// errors  as audit_logs(), expected_job(), import_scenario(), make_empty_folder(), write_file()
Result<LoggedJob> job_of_logs(const ReplayOptions& options);

/// Simulates the calls of the logs once on healthy hosts, once with each finding, and once with all
/// findings.
/// errors  as audit_logs(), expected_job(), import_scenario(), run_scenario(), make_empty_folder(),
///         write_file(). InvalidArgument: the logged calls hang
Result<AuditReplay> replay_findings(const ReplayOptions& options);

}  // namespace ringside::study
