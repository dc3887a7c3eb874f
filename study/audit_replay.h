#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/audit/finding.h"
#include "study/scenario/scenario_run.h"

/// The cost of findings: the calls that a job logged, simulated on correct hosts and on hosts with the faults found.
namespace ringside::study {

struct ReplayOptions {
  std::vector<std::string> logs = {};
  std::string cluster = {};  ///< the hosts, as --on takes them; empty: as the logs show them
  std::string folder = {};   ///< new or empty: scenarios and hosts' descriptions are written there
  std::string fidelity = "auto";
  std::size_t keep = 2000;  ///< rounds of calls, the last ones
};

struct Replayed {
  std::string what = {};      ///< "as it should be", "without GPUDirect RDMA"
  std::string finding = {};   ///< its id; empty: of none, or of all
  std::string title = {};     ///< the finding's
  std::string scenario = {};  ///< path
  Seconds time{};             ///< of the calls
};

struct AuditReplay {
  std::string source = {};  ///< the source of the hosts
  Replayed healthy;
  std::vector<Replayed> findings = {};  ///< each alone, dearest first
  std::vector<Replayed> together = {};  ///< all at once, if there are several; else empty
  std::vector<std::string> unmodelled =
      {};  ///< ids of findings that the model of a job does not cover
  std::vector<std::string> unknown = {};
};

/// The calls that a job logged, on hosts with the faults found.
struct LoggedJob {
  std::string source = {};  ///< the source of the hosts
  Scenario scenario;        ///< its hosts are described by files in the options' folder
  std::vector<audit::Finding> findings = {};
  std::vector<std::string> unknown = {};  ///< information missing in the logs, as text
};

/// errors  as audit_logs(), expected_job(), import_scenario(), make_empty_folder()
Result<LoggedJob> job_of_logs(const ReplayOptions& options);

/// errors  as audit_logs(), expected_job(), import_scenario(), run_scenario(), make_empty_folder()
Result<AuditReplay> replay_findings(const ReplayOptions& options);

}  // namespace ringside::study
