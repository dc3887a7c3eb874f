#include <fmt/format.h>

#include <algorithm>

#include "base/write_file.h"
#include "diag/audit/audit.h"
#include "engine/releases/releases.h"
#include "engine/topology/sources/nccl_xml.h"
#include "harness/logs/log_files.h"
#include "harness/logs/misconfiguration.h"
#include "study/asked_job.h"
#include "study/job_settings.h"
#include "study/scenario/scenario_parts.h"

namespace ringside::study {
namespace {

/// Returns the scenario's job without its host faults.
JobOptions job_of(const Scenario& scenario, int hosts) {
  return {.on = scenario.on, .nodes = scenario.nodes.value_or(hosts), .set = scenario.set};
}

/// Returns the log request for a job with these variables on hosts with the scenario's faults.
Result<LogRequest> request_of(const Scenario& scenario, int hosts) {
  const JobOptions job = job_of(scenario, hosts);
  LogRequest request;
  RINGSIDE_TRY(request.version, parse_nccl_version(kDefaultRelease));
  RINGSIDE_TRY(request.environment, environment_of(job));
  RINGSIDE_TRY(request.hosts, load_job_hosts(job));
  RINGSIDE_TRY(const JobSettings settings, parse_job_settings(job.set));
  request.settings = logged_settings(settings.variables);
  if (!scenario.broken.empty()) {
    RINGSIDE_TRY([[maybe_unused]] const LogTruth truth, misconfigure(scenario.broken, request));
  }
  return request;
}

}  // namespace

Result<JobOptions> broken_job(const Scenario& scenario, int hosts, const std::string& folder) {
  JobOptions job = job_of(scenario, hosts);
  RINGSIDE_TRY(const AskedJob asked, load_job(job));
  if (asked.fabric) {
    return Error{ErrorCode::Unsupported, "a cluster with a fabric, broken",
                 "give hosts: a preset, or a host's file"};
  }
  RINGSIDE_TRY(const LogRequest request, request_of(scenario, hosts));
  job.on.clear();
  for (std::size_t i = 0; i < request.hosts.runs.size(); ++i) {
    const HostRun& run = request.hosts.runs[i];
    const std::string path = fmt::format("{}/host-{}.xml", folder, i);
    RINGSIDE_TRY(write_file(path, to_nccl_xml(run.host)));
    job.on += fmt::format("{}{}:{}", job.on.empty() ? "" : ",", path, run.count);
  }
  // Omits settings that this job does not support: a log shows them, but they change no decision.
  job.set.clear();
  for (const Setting& one : request.settings) {
    if (environment_with({{one.name, one.value}})) job.set.push_back(one.name + "=" + one.value);
  }
  return job;
}

Result<std::vector<std::string>> findings_on(const Scenario& scenario, int hosts) {
  RINGSIDE_TRY(LogRequest request, request_of(scenario, hosts));
  RINGSIDE_TRY(const LogJob made, LogJob::make(std::move(request)));
  std::vector<std::string> ids;
  for (const audit::Finding& finding : audit::audit_text(joined_log(made), "job.log").findings) {
    if (std::ranges::find(ids, finding.id) == ids.end()) ids.push_back(finding.id);
  }
  return ids;
}

}  // namespace ringside::study
