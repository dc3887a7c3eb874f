#pragma once

#include <vector>

#include "base/result.h"
#include "engine/channels/connect.h"
#include "engine/channels/parameters.h"
#include "engine/topology/host.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// A job on given hosts with one rank per GPU, numbered host by host: its nodes, their reports and its channels.
struct Job {
  std::vector<System> systems = {};  ///< one for each distinct node, as seen by the first such node
  std::vector<NodeReport> reports = {};  ///< by system
  std::vector<JobNode> nodes = {};       ///< all nodes of the job, in NCCL's order
  Connection connection = {};

  [[nodiscard]] int nranks() const { return connection.shape.nranks; }
};

/// Searches the hosts (equal hosts once), and joins them into a job.
/// errors  InvalidArgument: a host cannot take part, a count is below 1, the hosts do not fill a domain, or there are
///         more than 131072 ranks. As load_graph_xml: with a graph file
Result<Job> make_job(const JobHosts& hosts, const TopologyParameters& topology,
                     const ChannelParameters& channels);

}  // namespace ringside
