#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/channels/job.h"
#include "engine/topology/host.h"
#include "sim/fabric/cluster.h"
#include "study/host_changes.h"

namespace ringside::study {

/// The job that a question is about: its hosts and its environment variables.
struct JobOptions {
  std::string on;                      ///< a text for load_hosts(), or a cluster file
  std::optional<int> nodes = {};       ///< hosts; nullopt: 1, or all placed hosts of a cluster
  std::optional<int> nvl_domain = {};  ///< hosts that share one NVLink domain
  std::optional<int> gpus = {};        ///< GPUs of the whole job, instead of `nodes`
  std::string fabric = {};  ///< a word for cluster_in_fabric(); empty: the fabric of `on`
  /// For a fabric given by a word: nodes that it connects; the job uses the first `nodes` of them. nullopt: the job's
  /// nodes only.
  std::optional<int> fabric_nodes = {};
  /// NAME=VALUE overrides a variable of the process; fabric.KEY=VALUE or placement=VALUE overrides the cluster file;
  /// fabric=WORD overrides `fabric`.
  std::vector<std::string> set = {};
  HostChanges hosts = {};
};

/// The cluster that a job is part of.
struct AskedFabric {
  Cluster cluster;
  std::shared_ptr<const Fabric> fabric;
  std::vector<int> nodes;        ///< numbers of the job's nodes in the cluster, in the job's order
  std::vector<int> first_hosts;  ///< by node of the job, as JobFabric has them; of load_job() only
  bool is_by_word = false;       ///< JobOptions::fabric, and no cluster's file
};

/// The hosts of a job, and the fabric between them.
struct FoundHosts {
  JobHosts hosts;
  std::optional<AskedFabric> fabric = {};  ///< none: no contention between hosts
};

/// Loads the hosts of a job and the fabric between them.
/// on_host  called with each kind of host, to change it before it is placed; may be empty
/// errors   as load_hosts(), load_cluster(), cluster_in_fabric(), make_fabric(), change_host(), with_nodes().
///          InvalidArgument: no GPU of a host takes part, or the fabric does not join two of the hosts
Result<FoundHosts> find_hosts(const JobOptions& options,
                              const std::function<void(Host&)>& on_host = {});

/// Returns the hosts of find_hosts(), as runs of equal hosts in the job's order.
/// errors  as find_hosts()
Result<JobHosts> load_job_hosts(const JobOptions& options);

/// Returns the options of the smallest job on these hosts, whatever their `nodes` and `gpus`: one host, one NVLink
/// domain, or one node of a cluster file. A list of hosts with counts stays whole, and so do the nodes of
/// `fabric_nodes`.
JobOptions smallest_job(JobOptions options);

/// Returns the options with `nodes` instead of `gpus`, if `gpus` is set. If the GPUs do not fill whole NVLink domains,
/// each domain contributes equally many hosts, given by `nvl_domain`: 512 GPUs of gb200-nvl72 are 8 domains of 16
/// hosts.
/// errors  as load_job_hosts(). InvalidArgument: `nodes` is set too, the GPUs do not fill hosts, there are hosts of
///         several kinds
Result<JobOptions> with_nodes(const JobOptions& options);

}  // namespace ringside::study
