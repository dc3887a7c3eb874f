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

/// A cluster file with its hosts read.
struct Cluster {
  ClusterFile file;
  std::vector<HostRun> kinds;  ///< in the order of the file; counts are hosts
  int hosts_per_domain = 1;    ///< of a node

  [[nodiscard]] int nhosts() const;
  [[nodiscard]] int nnodes() const { return nhosts() / hosts_per_domain; }
};

/// path        of a cluster/1, or of a SimGrid platform; the files that it names are looked for next to it
/// nvl_domain  so many consecutive hosts share one NVLink domain; none: what the file and its hosts say
/// node        the node type of platform hosts without one of their own, as --on takes it
/// errors      as read_file(), parse_cluster(), parse_platform(), cluster_of_platform(). Those of load_hosts(), with
///             the line of the entry
Result<Cluster> load_cluster(const std::string& path, const std::vector<ClusterChange>& changes,
                             std::optional<int> nvl_domain, const std::string& node = {});

/// Whether the text is one that load_cluster() reads.
bool is_cluster(std::string_view text);

/// The cluster's fabric, between the NICs that its hosts have now.
/// errors  as make_fabric()
Result<std::unique_ptr<const Fabric>> make_fabric(const Cluster& cluster);

/// A job's hosts, and where they stand.
struct PlacedHosts {
  JobHosts hosts;
  std::vector<int> nodes;  ///< the cluster's numbers, in the job's order
};

/// nodes   of the job; none: all, or all that a list names
/// errors  as place_nodes()
Result<PlacedHosts> place_job(const Cluster& cluster, std::optional<int> nodes);

/// By node of the job: the cluster's number of the first host of its NVLink domain, or of its host.
std::vector<int> first_hosts(const Job& job, const PlacedHosts& placed);

/// The ordinal of each NIC of a system on its host, in the order of device numbers: FabricPort::nic.
std::vector<int> nic_numbers(const System& system);

}  // namespace ringside
