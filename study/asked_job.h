#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/result.h"
#include "engine/channels/job.h"
#include "engine/tuning/select.h"
#include "sim/fabric/cluster.h"
#include "sim/job_network.h"
#include "study/host_changes.h"

namespace ringside::study {

/// The job that a question is about: its hosts and its environment variables.
struct JobOptions {
  /// Host or preset as load_hosts() takes it, or a cluster file.
  std::string on;
  /// Number of hosts; none: 1, or for a cluster file all nodes that it places.
  std::optional<int> nodes = {};
  std::optional<int> nvl_domain = {};  ///< hosts per NVLink domain; none: as described
  /// NAME=VALUE overrides the variable of this process; fabric.KEY=VALUE and placement=VALUE
  /// override keys of a cluster file.
  std::vector<std::string> set = {};
  HostChanges hosts = {};
};

/// Returns the variables of this process, overridden by `settings` (NAME=VALUE). An empty value
/// unsets a variable.
/// errors  InvalidArgument: no `=`, or an unsupported name; the nearest known one is named
Result<Environment> environment_with(const std::vector<std::string>& settings);

/// Returns environment_with(options.set), without the settings of the cluster file.
Result<Environment> environment_of(const JobOptions& options);

/// Loads the hosts of a job, as runs of equal hosts. Does not load the fabric between them.
/// errors  as load_hosts(), load_cluster(), change_host(). InvalidArgument: no GPU of a host takes
///         part, or the cluster's fabric does not join two of the hosts
Result<JobHosts> load_job_hosts(const JobOptions& options);

/// The cluster that runs a job.
struct AskedFabric {
  Cluster cluster;
  std::shared_ptr<const Fabric> fabric;
  std::vector<int> nodes;        ///< cluster's node numbers, in the order of the job
  std::vector<int> first_hosts;  ///< by node of the job, as in JobFabric
};

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
///          load_job_hosts(), make_fabric(), make_job()
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
