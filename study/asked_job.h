#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/result.h"
#include "engine/channels/job.h"
#include "engine/tuning/select.h"

namespace ringside::study {

/// Which job a question is about: the hosts, and the variables that it would be started with.
struct JobOptions {
  std::string on;                      ///< as load_hosts() takes it
  int nodes = 1;                       ///< hosts
  std::optional<int> nvl_domain = {};  ///< hosts that share one NVLink domain
  std::vector<std::string> set = {};   ///< NAME=VALUE, over the process's own variables
};

/// The process's variables with `settings` (NAME=VALUE) over them; an empty value unsets one.
/// errors  InvalidArgument: no `=`, or a name that decides nothing here; the nearest known is named
Result<Environment> environment_with(const std::vector<std::string>& settings);

/// environment_with(options.set)
Result<Environment> environment_of(const JobOptions& options);

/// The hosts that a job runs on: they have GPUs.
/// errors  as load_hosts(). InvalidArgument: a host without a GPU that takes part
Result<JobHosts> load_job_hosts(const JobOptions& options);

/// A job that was asked for, and what made it so.
struct AskedJob {
  TopologyParameters topology;
  JobHosts hosts;
  Job job;
};

/// errors  as environment_of(), parse_topology_parameters(), parse_channel_parameters(), load_job_hosts(),
///         make_job()
Result<AskedJob> load_job(const JobOptions& options);

/// The same, and who chooses for it.
struct TunedJob {
  AskedJob asked;
  Tuner tuner;

  [[nodiscard]] const CommShape& shape() const { return tuner.shape(); }
};

/// version  as Tuner::make()
/// errors   as load_job(), parse_tuning_parameters(), Tuner::make()
Result<TunedJob> load_tuned_job(const JobOptions& options,
                                std::string_view version = kNewestTuning);

/// The same where nothing is set: it does not depend on where it is asked.
/// errors  as load_hosts(), make_job()
Result<TunedJob> load_tuned_preset(const std::string& on, int nodes);

}  // namespace ringside::study
