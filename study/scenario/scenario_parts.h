#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "base/temporary.h"
#include "harness/hangs/program.h"
#include "study/asked_job.h"
#include "study/scenario/scenario_run.h"

/// Code that runs on real and on simulated ranks share.
namespace ringside::study {

/// The folder that the user named, or else a temporary folder. The destructor removes only a
/// temporary folder; it is also removed if a signal ends this process and its child processes.
class EvidenceFolder {
 public:
  /// named   existing folder; empty: make a temporary folder
  /// errors  as TemporaryFolder::make()
  static Result<EvidenceFolder> make(const std::string& named);

  [[nodiscard]] const std::string& path() const { return temporary_ ? temporary_->path() : named_; }

 private:
  EvidenceFolder(std::string named, UniqueFd alive, std::optional<TemporaryFolder> temporary)
      : named_(std::move(named)), alive_(std::move(alive)), temporary_(std::move(temporary)) {}
  std::string named_;
  UniqueFd alive_;                            ///< closes when all of these processes have ended
  std::optional<TemporaryFolder> temporary_;  // removed before `alive_` is closed
};

/// Returns the number of calls of the rank with the most calls.
std::int64_t most_calls(const hangs::Program& program);

/// Returns the verdict of `ringside hang` on a folder.
/// errors  as hang::examine()
Result<hang::Explanation> verdict_of(const std::string& folder);

/// Returns the scenario's job with its host faults. Writes the descriptions of the hosts to the
/// folder.
/// hosts   number of hosts if the scenario gives none
/// folder  must exist
/// errors  as load_job(), misconfigure(); Unsupported: a cluster with a fabric; System
Result<JobOptions> broken_job(const Scenario& scenario, int hosts, const std::string& folder);

/// Returns audit's findings in the logs that NCCL would write on the scenario's hosts: ids, root
/// causes first. Serves simulated runs only: real ranks write their own logs.
/// hosts   number of hosts if the scenario gives none
/// errors  as load_job_hosts(), LogJob::make()
Result<std::vector<std::string>> findings_on(const Scenario& scenario, int hosts);

/// Runs the scenario in processes on this machine.
/// errors  as run_scenario()
Result<ScenarioOutcome> run_on_processes(const ScenarioQuestion& question);

}  // namespace ringside::study
