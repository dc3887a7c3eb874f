#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/result.h"
#include "engine/channels/job.h"
#include "engine/tuning/select.h"
#include "sim/job_network.h"
#include "study/job_hosts.h"

namespace ringside::study {

/// Returns environment_with() the variables among the settings.
/// errors  as parse_job_settings(), environment_with()
Result<Environment> environment_of(const JobOptions& options);

/// A job built for a question, with the parameters that it was built with.
struct AskedJob {
  TopologyParameters topology;
  JobHosts hosts;
  Job job;
  std::optional<AskedFabric> fabric = {};  ///< none: no contention between hosts

  /// Returns the fabric for a JobNetwork.  Ownership  this object outlives the JobNetwork
  [[nodiscard]] JobFabric job_fabric() const;
};

/// Loads the hosts of a job and builds its graphs and channels.
/// version  NCCL release whose code builds them, as load_release()
/// errors   as environment_of(), parse_topology_parameters(), parse_channel_parameters(),
///          find_hosts(), make_job()
Result<AskedJob> load_job(const JobOptions& options, std::string_view version = kDefaultRelease);

/// A job, and the tuner that chooses algorithms for its calls.
struct TunedJob {
  AskedJob asked;
  Tuner tuner;

  [[nodiscard]] const CommShape& shape() const { return tuner.shape(); }
};

/// Loads a job and its tuner.
/// version  NCCL release whose code builds graphs and chooses, as Tuner::make()
/// errors   as load_job(), parse_tuning_parameters(), Tuner::make()
Result<TunedJob> load_tuned_job(const JobOptions& options,
                                std::string_view version = kDefaultRelease);

/// Loads a job of `nodes` hosts without settings. Ignores the variables of this process.
/// errors  as load_hosts(), make_job()
Result<TunedJob> load_tuned_preset(const std::string& on, int nodes);

}  // namespace ringside::study
