#include "engine/channels/job.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "engine/channels/graph_xml.h"
#include "engine/channels/report.h"

namespace ringside {
namespace {

constexpr int kMaxRanks = 131072;

/// The nodes of one NVLink domain. All domains with the same hosts share one.
struct Domain {
  std::vector<int> reports;             ///< [node]: index of its report
  std::vector<std::vector<int>> ranks;  ///< [node]: its ranks, counted from the domain's first rank
  int nranks = 0;
};

/// Returns, for each host of the job, the index of its run in `hosts`.
Result<std::vector<int>> list_hosts(const JobHosts& hosts) {
  std::int64_t nranks = 0;
  for (const auto& [host, count] : hosts.runs) {
    if (count < 1) {
      return Error{ErrorCode::InvalidArgument, fmt::format("{} hosts of {}", count, host.name),
                   "give at least 1"};
    }
    nranks += static_cast<std::int64_t>(count) * static_cast<std::int64_t>(gpus_of(host).size());
    if (nranks > kMaxRanks || count > kMaxRanks) {
      return Error{ErrorCode::InvalidArgument, fmt::format("more than {} ranks", kMaxRanks),
                   "give fewer nodes"};
    }
  }
  std::vector<int> list = run_of_hosts(hosts);
  const int each = hosts.hosts_per_nvl_domain;
  if (list.empty() || each < 1 || list.size() % static_cast<std::size_t>(each) != 0) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} hosts in NVLink domains of {}", list.size(), each),
                 "give a number of hosts that the domains divide"};
  }
  return list;
}

int count_ranks(const JobHosts& hosts, const std::vector<int>& list) {
  std::size_t nranks = 0;
  for (const int run : list)
    nranks += gpus_of(hosts.runs[static_cast<std::size_t>(run)].host).size();
  return static_cast<int>(nranks);
}

/// Builds and searches the nodes of the domain whose first rank is `first_rank`.
Result<Domain> explore(Job& job, const JobHosts& hosts, const std::vector<int>& runs,
                       int first_rank, int nranks, const TopologyParameters& topology,
                       const ChannelParameters& channels) {
  std::vector<const Host*> members;
  for (const int run : runs) members.push_back(&hosts.runs[static_cast<std::size_t>(run)].host);
  RINGSIDE_TRY(
      std::vector<System> systems,
      make_systems({.hosts = members, .first_rank = first_rank, .nranks = nranks}, topology));
  Domain domain;
  for (System& system : systems) {
    domain.reports.push_back(static_cast<int>(job.reports.size()));
    Graphs given;
    if (!channels.graph_file.empty()) {
      RINGSIDE_TRY(given, load_graph_xml(channels.graph_file, system));
    }
    job.reports.push_back(report_on(system, topology, channels, given));
    std::vector<int> ranks;
    for (const GpuInfo& gpu : system.gpus) ranks.push_back(gpu.rank - first_rank);
    domain.nranks += static_cast<int>(ranks.size());
    domain.ranks.push_back(std::move(ranks));
    job.systems.push_back(std::move(system));
  }
  return domain;
}

void append_nodes(Job& job, const Domain& domain, int first_rank) {
  for (std::size_t i = 0; i < domain.reports.size(); ++i) {
    JobNode node{.report = domain.reports[i], .ranks = domain.ranks[i]};
    for (int& rank : node.ranks) rank += first_rank;
    job.nodes.push_back(std::move(node));
  }
}

}  // namespace

Result<Job> make_job(const JobHosts& hosts, const TopologyParameters& topology,
                     const ChannelParameters& channels) {
  RINGSIDE_TRY(const std::vector<int> list, list_hosts(hosts));
  const int nranks = count_ranks(hosts, list);
  Job job;
  std::map<std::vector<int>, Domain> known;
  int first_rank = 0;
  for (auto begin = list.begin(); begin != list.end(); begin += hosts.hosts_per_nvl_domain) {
    std::vector<int> runs{begin, begin + hosts.hosts_per_nvl_domain};
    auto place = known.find(runs);
    if (place == known.end()) {
      RINGSIDE_TRY(Domain domain,
                   explore(job, hosts, runs, first_rank, nranks, topology, channels));
      place = known.emplace(std::move(runs), std::move(domain)).first;
    }
    append_nodes(job, place->second, first_rank);
    first_rank += place->second.nranks;
  }
  RINGSIDE_TRY(job.connection, connect_nodes(job.reports, job.nodes, channels));
  return job;
}

}  // namespace ringside
