#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/channels/job.h"

namespace ringside::study {

/// A class of equal nodes of a job. NCCL calls an NVLink domain of several hosts one node.
struct NodeFacts {
  std::size_t report = 0;  ///< index into Job::systems and Job::reports
  std::vector<int> nodes;  ///< numbers of the nodes, ascending
  int first_rank = 0;      ///< first rank of the first node
  /// Rates of the node's links in GB/s, without links inside a device and without NIC cables.
  std::map<LinkKind, std::set<float>> link_rates;
};

/// Facts about a job that only explanations need.
struct TopoFacts {
  std::vector<NodeFacts> kinds;   ///< by report
  std::vector<int> node_of_rank;  ///< by rank
};
TopoFacts topo_facts(const Job& job);

/// Consecutive ranks of a ring on one node.
struct RingVisit {
  int node = 0;
  std::vector<int> ranks;
};
/// Returns the ring of a channel, from rank 0's position on, node by node.
/// shape  channel is one of the job's
std::vector<RingVisit> visits_of(const Job& job, const TopoFacts& facts, int channel);

/// Returns the ranks of a tree that have children: first the roots, then the others in ascending
/// order.
std::vector<int> parents_of(std::span<const Channels::TreePlace> tree);

/// Returns the hosts with different names, each with its count. Hosts of one name count as equal.
std::vector<HostRun> distinct_hosts(const JobHosts& hosts);

/// Returns the host of a job with equal hosts, for `--dump-xml`.
/// errors  InvalidArgument: hosts have different names
Result<Host> only_host_of(const JobHosts& hosts);

}  // namespace ringside::study
