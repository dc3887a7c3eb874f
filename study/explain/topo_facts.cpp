#include "study/explain/topo_facts.h"

#include <algorithm>

namespace ringside::study {
namespace {

std::map<LinkKind, std::set<float>> link_rates_of(const System& system) {
  std::map<LinkKind, std::set<float>> rates;
  for (const Link& link : system.links) {
    if (link.kind != LinkKind::Loc && link.kind != LinkKind::Net) {
      rates[link.kind].insert(link.bandwidth);
    }
  }
  return rates;
}

}  // namespace

TopoFacts topo_facts(const Job& job) {
  TopoFacts facts;
  facts.node_of_rank.assign(static_cast<std::size_t>(job.nranks()), -1);
  for (std::size_t report = 0; report < job.systems.size(); ++report) {
    facts.kinds.push_back({report, {}, 0, link_rates_of(job.systems[report])});
  }
  for (std::size_t n = 0; n < job.nodes.size(); ++n) {
    const JobNode& node = job.nodes[n];
    NodeFacts& kind = facts.kinds[static_cast<std::size_t>(node.report)];
    if (kind.nodes.empty()) kind.first_rank = node.ranks.front();
    kind.nodes.push_back(static_cast<int>(n));
    for (const int rank : node.ranks) {
      facts.node_of_rank[static_cast<std::size_t>(rank)] = static_cast<int>(n);
    }
  }
  return facts;
}

std::vector<RingVisit> visits_of(const Job& job, const TopoFacts& facts, int channel) {
  std::vector<RingVisit> visits;
  for (const Rank rank : job.connection.channels.rings[static_cast<std::size_t>(channel)]) {
    const int node = facts.node_of_rank[static_cast<std::size_t>(to_int(rank))];
    if (visits.empty() || visits.back().node != node) visits.push_back({node, {}});
    visits.back().ranks.push_back(to_int(rank));
  }
  return visits;
}

std::vector<int> parents_of(std::span<const Channels::TreePlace> tree) {
  std::vector<int> parents;
  for (const bool is_root : {true, false}) {
    for (std::size_t rank = 0; rank < tree.size(); ++rank) {
      const bool fits = (tree[rank].parent == kNoRank) == is_root;
      if (fits && !tree[rank].children.empty()) parents.push_back(static_cast<int>(rank));
    }
  }
  return parents;
}

std::vector<HostRun> distinct_hosts(const JobHosts& hosts) {
  std::vector<HostRun> distinct;
  for (const HostRun& run : hosts.runs) {
    const auto known = std::find_if(distinct.begin(), distinct.end(), [&](const HostRun& other) {
      return other.host.name == run.host.name;
    });
    if (known == distinct.end()) {
      distinct.push_back(run);
    } else {
      known->count += run.count;
    }
  }
  return distinct;
}

Result<Host> only_host_of(const JobHosts& hosts) {
  if (distinct_hosts(hosts).size() == 1) return hosts.runs.front().host;
  return Error{ErrorCode::InvalidArgument, "--dump-xml with hosts that differ",
               "write them one by one: the file describes one host"};
}

}  // namespace ringside::study
