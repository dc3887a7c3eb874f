#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/channels/job.h"
#include "engine/topology/host.h"
#include "sim/fabric/cluster_file.h"
#include "sim/fabric/fabric.h"

namespace ringside {

/// A cluster file together with the systems of its hosts.
struct Cluster {
  ClusterFile file;
  std::vector<HostRun> kinds;  ///< in the order of the file; HostRun counts are hosts
  int hosts_per_domain = 1;    ///< hosts in one NVLink domain; a node is one domain

  [[nodiscard]] int nhosts() const;
  [[nodiscard]] int nnodes() const { return nhosts() / hosts_per_domain; }
};

/// Loads a cluster file and the host descriptions that it names.
/// path        cluster/1 file or SimGrid platform; names in it are relative to its folder
/// nvl_domain  consecutive hosts per NVLink domain; none: as the file and the hosts state
/// node        node type of platform hosts without a type of their own, in the form of --on
/// errors      as read_file(), parse_cluster(), parse_platform(), cluster_of_platform(); those of
///             load_hosts(), with the line of the entry
Result<Cluster> load_cluster(const std::string& path, const std::vector<ClusterChange>& changes,
                             std::optional<int> nvl_domain, const std::string& node = {});

/// Returns true if the text is a file that load_cluster() reads.
bool is_cluster(std::string_view text);

/// Builds the fabric between the NICs of the cluster's hosts.
/// errors  as make_fabric(FabricSettings, ...)
Result<std::unique_ptr<const Fabric>> make_fabric(const Cluster& cluster);

/// The hosts of a job and their places in the cluster.
struct PlacedHosts {
  JobHosts hosts;
  std::vector<int> nodes;  ///< cluster's node numbers, in the order of the job
};

/// Chooses the nodes of a job by the cluster's placement.
/// nodes   number of nodes; none: all nodes, or all that a placement list names
/// errors  as place_nodes()
Result<PlacedHosts> place_job(const Cluster& cluster, std::optional<int> nodes);

/// Returns for each node of the job the cluster's number of its host, or of the first host of its
/// NVLink domain.
std::vector<int> first_hosts(const Job& job, const PlacedHosts& placed);

/// Returns for each NIC of the system (in device order) its number on its host: FabricPort::nic.
std::vector<int> nic_numbers(const System& system);

}  // namespace ringside
