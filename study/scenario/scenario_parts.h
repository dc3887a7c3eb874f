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

/// Common parts of runs on real and on simulated ranks.
namespace ringside::study {

/// The folder that the user named, which is kept; else a temporary one, which is removed with the object. The
/// temporary folder is also removed if a signal ends this process and those that it started.
class EvidenceFolder {
 public:
  /// named   is not created here; empty: none
  /// errors  as TemporaryFolder::make()
  static Result<EvidenceFolder> make(const std::string& named);

  [[nodiscard]] const std::string& path() const { return temporary_ ? temporary_->path() : named_; }

 private:
  EvidenceFolder(std::string named, UniqueFd alive, std::optional<TemporaryFolder> temporary)
      : named_(std::move(named)), alive_(std::move(alive)), temporary_(std::move(temporary)) {}
  std::string named_;
  UniqueFd alive_;                            ///< closed once all of these processes have ended
  std::optional<TemporaryFolder> temporary_;  // removed before `alive_` is closed
};

/// The largest number of calls of a rank of the program.
std::int64_t most_calls(const hangs::Program& program);

/// The verdict of `ringside hang` on a folder.
Result<hang::Explanation> verdict_of(const std::string& folder);

/// The scenario's job on its hosts with their faults, which it writes into the folder.
/// hosts   used if the scenario does not give a number
/// folder  must exist
/// errors  as load_job(), misconfigure(); Unsupported: a cluster with a fabric; System
Result<JobOptions> broken_job(const Scenario& scenario, int hosts, const std::string& folder);

/// audit's findings in the logs that NCCL would write on the scenario's hosts with these settings: ids, first causes
/// first. For simulated hosts only: real ranks write their own logs.
/// hosts   used if the scenario does not give a number
/// errors  as load_job_hosts(), LogJob::make()
Result<std::vector<std::string>> findings_on(const Scenario& scenario, int hosts);

/// The scenario on processes of this machine.
/// errors  as run_scenario()
Result<ScenarioOutcome> run_on_processes(const ScenarioQuestion& question);

}  // namespace ringside::study
