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
  std::string on;                      ///< a text for load_hosts(), or a cluster file
  std::optional<int> nodes = {};       ///< hosts; nullopt: 1, or all placed hosts of a cluster
  std::optional<int> nvl_domain = {};  ///< hosts that share one NVLink domain
  std::optional<int> gpus = {};        ///< GPUs of the whole job, instead of `nodes`
  std::string fabric = {};  ///< a word for parse_fabric_word(); empty: the fabric of `on`
  /// For a fabric given by a word: nodes that it connects; the job uses the first `nodes` of them. nullopt: the job's
  /// nodes only.
  std::optional<int> fabric_nodes = {};
  /// NAME=VALUE overrides a variable of the process; fabric.KEY=VALUE or placement=VALUE overrides the cluster file;
  /// fabric=WORD overrides `fabric`.
  std::vector<std::string> set = {};
  HostChanges hosts = {};
};

/// Returns the variables of this process, overridden by `settings` (NAME=VALUE). An empty value
/// unsets a variable.
/// errors  InvalidArgument: no `=`, or an unsupported name; the nearest known one is named
Result<Environment> environment_with(const std::vector<std::string>& settings);

/// Returns environment_with(options.set), without the settings of the cluster file.
/// errors  as environment_with()
Result<Environment> environment_of(const JobOptions& options);

/// Loads the hosts of a job, as runs of equal hosts. Does not load the fabric between them.
/// errors  as load_hosts(), load_cluster(), change_host(). InvalidArgument: no GPU of a host takes
///         part, or the cluster's fabric does not join two of the hosts
Result<JobHosts> load_job_hosts(const JobOptions& options);

/// Returns the options with `nodes` instead of `gpus`, if `gpus` is set. If the GPUs do not fill whole NVLink domains,
/// each domain contributes equally many hosts, given by `nvl_domain`: 512 GPUs of gb200-nvl72 are 8 domains of 16
/// hosts.
/// errors  as load_job_hosts(). InvalidArgument: `nodes` is set too, the GPUs do not fill hosts, there are hosts of
///         several kinds
Result<JobOptions> with_nodes(const JobOptions& options);

/// Returns whether a setting (NAME=VALUE) is of the fabric or the placement in it.
bool is_fabric_setting(const std::string& setting);

/// The cluster that a job is part of.
struct AskedFabric {
  Cluster cluster;
  std::shared_ptr<const Fabric> fabric;
  std::vector<int> nodes;        ///< numbers of the job's nodes in the cluster, in the job's order
  std::vector<int> first_hosts;  ///< by node of the job, as JobFabric has them
  bool is_by_word = false;       ///< JobOptions::fabric, and no cluster's file
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
