#pragma once

#include <vector>

#include "base/result.h"
#include "engine/channels/connect.h"
#include "engine/channels/parameters.h"
#include "engine/topology/host.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// A job on given hosts, one rank a GPU, numbered host by host: its nodes, what each found, and the
/// channels that join them.
struct Job {
  std::vector<System> systems = {};  ///< one for each kind of node, as the first of them sees it
  std::vector<NodeReport> reports = {};  ///< by system
  std::vector<JobNode> nodes = {};       ///< of the whole job, in NCCL's order
  Connection connection = {};

  [[nodiscard]] int nranks() const { return connection.shape.nranks; }
};

/// Like hosts are searched once.
/// errors  InvalidArgument: a host that cannot take part, a count below 1, a domain that the hosts do
///         not fill, more than 131072 ranks. As load_graph_xml: with a graph file
Result<Job> make_job(const JobHosts& hosts, const TopologyParameters& topology,
                     const ChannelParameters& channels);

}  // namespace ringside
