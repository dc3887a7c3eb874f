#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/channels/job.h"

namespace ringside::study {

/// What equal nodes of a job have in common. NCCL calls an NVLink domain of several hosts one node.
struct NodeFacts {
  std::size_t report = 0;  ///< of Job::systems and Job::reports
  std::vector<int> nodes;  ///< ascending
  int first_rank = 0;      ///< of the first of them
  /// GB/s of its links; without those inside a device and the wires of NICs.
  std::map<LinkKind, std::set<float>> link_rates;
};

/// Facts about a job that the engine does not provide.
struct TopoFacts {
  std::vector<NodeFacts> kinds;   ///< by report
  std::vector<int> node_of_rank;  ///< by rank
};
TopoFacts topo_facts(const Job& job);

/// The consecutive ranks of a ring within a node.
struct RingVisit {
  int node = 0;
  std::vector<int> ranks;
};
/// A ring from rank 0's position on, visit by visit.
/// shape  channel is one of the job's
std::vector<RingVisit> visits_of(const Job& job, const TopoFacts& facts, int channel);

/// The ranks of a tree that have children: roots, then the others, ascending.
std::vector<int> parents_of(std::span<const Channels::TreePlace> tree);

/// The different hosts, each with its count.
std::vector<HostRun> distinct_hosts(const JobHosts& hosts);

/// The host, if all hosts are equal.
/// errors  InvalidArgument: they differ
Result<Host> only_host_of(const JobHosts& hosts);

}  // namespace ringside::study
