#include "ringside/topology.h"

#include "api/job.h"
#include "base/result.h"
#include "engine/topology/sources/load_hosts.h"

namespace ringside {

std::vector<std::string> preset_names() {
  const auto names = host_preset_names();
  return {names.begin(), names.end()};
}

Result<JobTopology> load_topology(const JobRequest& job) {
  RINGSIDE_TRY(const study::AskedJob asked, study::load_job(options_of(job), release_of(job)));
  const Connection& connection = asked.job.connection;
  JobTopology topology{.nodes = connection.shape.nnodes,
                       .ranks = connection.shape.nranks,
                       .channels = connection.channels.count(),
                       .nvls_channels = connection.shape.nvls_channels,
                       .rings = {},
                       .trees = {}};
  for (const std::vector<Rank>& ring : connection.channels.rings) {
    std::vector<int>& ranks = topology.rings.emplace_back();
    for (const Rank rank : ring) ranks.push_back(to_int(rank));
  }
  for (const auto& tree : connection.channels.trees) {
    std::vector<TreePlace>& places = topology.trees.emplace_back();
    for (const Channels::TreePlace& place : tree) {
      TreePlace& copy = places.emplace_back();
      copy.parent = to_int(place.parent);
      for (const Rank child : place.children) copy.children.push_back(to_int(child));
    }
  }
  return topology;
}

}  // namespace ringside
