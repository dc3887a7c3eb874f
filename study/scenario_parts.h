#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "harness/hangs/program.h"
#include "study/asked_job.h"
#include "study/scenario_run.h"

/// What runs on real ranks and on simulated ones have in common.
namespace ringside::study {

/// A folder that goes when it is no longer needed, unless somebody named it; also where this process and those that it
/// started are ended by a signal.
class EvidenceFolder {
 public:
  explicit EvidenceFolder(const std::string& named);
  ~EvidenceFolder();
  EvidenceFolder(const EvidenceFolder&) = delete;
  EvidenceFolder& operator=(const EvidenceFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const bool is_kept_;
  UniqueFd alive_;  ///< closed when all of them are gone
};

/// That a rank of the program makes, of the rank that makes most.
std::int64_t most_calls(const hangs::Program& program);

/// What `ringside hang` makes of a folder.
Result<hang::Explanation> verdict_of(const std::string& folder);

/// The scenario's job on its hosts as they are broken, which it writes into the folder.
/// hosts   where the scenario does not say how many
/// folder  there
/// errors  as load_job(), misconfigure(); Unsupported: a cluster with a fabric; System
Result<JobOptions> broken_job(const Scenario& scenario, int hosts, const std::string& folder);

/// What audit finds in the logs that NCCL would write on the scenario's hosts, so set: ids, first causes first. Simulated
/// hosts alone: real ranks write their own.
/// hosts   where the scenario does not say how many
/// errors  as load_job_hosts(), LogJob::make()
Result<std::vector<std::string>> findings_on(const Scenario& scenario, int hosts);

/// The scenario on processes of this machine.
/// errors  as run_scenario()
Result<ScenarioOutcome> run_on_processes(const ScenarioQuestion& question);

}  // namespace ringside::study
