#include "sim/fabric/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/text.h"
#include "engine/topology/host_edit.h"
#include "engine/topology/paths/link_speeds.h"
#include "engine/topology/sources/description_file.h"
#include "engine/topology/sources/host_yaml.h"
#include "engine/topology/sources/load_hosts.h"
#include "sim/fabric/kinds.h"
#include "sim/fabric/platform.h"

namespace ringside {
namespace {

constexpr double kGigabyte = 1e9;

/// Returns the rates of a host's NICs, ordered by device number.
std::vector<BytesPerSecond> nic_rates(Host host) {
  std::vector<BytesPerSecond> rates;
  for (const HostNetPlace& place : nets_of(host)) {
    rates.push_back({static_cast<double>(net_bandwidth(*place.net)) * kGigabyte});
  }
  return rates;
}

/// Returns a path relative to the cluster file if such a file exists; else the word unchanged.
std::string source_of(const std::string& word, const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path sibling = std::filesystem::path(path).parent_path() / word;
  return std::filesystem::is_regular_file(sibling, ignored) ? sibling.string() : word;
}

Result<Platform> load_platform(const std::string& path) {
  RINGSIDE_TRY(const std::string text, read_description(path));
  return parse_platform(text, path);
}

Result<ClusterFile> load_cluster_file(const std::string& path,
                                      const std::vector<ClusterChange>& changes,
                                      const std::string& node) {
  RINGSIDE_TRY(const std::string text, read_description(path));
  if (is_platform_text(text)) {
    RINGSIDE_TRY(Platform platform, parse_platform(text, path));
    return cluster_of_platform(std::move(platform), node, changes);
  }
  RINGSIDE_TRY(ClusterFile file, parse_cluster(text, path, changes));
  if (file.fabric.kind == FabricKind::Platform) {
    const std::string source = source_of(file.fabric.file, path);
    if (std::error_code ignored; !std::filesystem::exists(source, ignored)) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("{}: file: there is no '{}'", file.fabric.where, source),
                   "give the platform's XML, by its whole path or from the cluster's file on"};
    }
    RINGSIDE_TRY(Platform platform, load_platform(source));
    file.fabric.platform = std::make_shared<const Platform>(std::move(platform));
  }
  return file;
}

/// Loads nodes that the cluster file describes itself.
Result<JobHosts> described_hosts(const ClusterFile::Nodes& entry, std::optional<int> domain) {
  RINGSIDE_TRY(DescribedHost described, parse_host_yaml(entry.description, entry.where));
  JobHosts hosts;
  hosts.runs.push_back({std::move(described.host), domain ? 1 : described.hosts_per_domain});
  hosts.hosts_per_nvl_domain = domain.value_or(described.hosts_per_domain);
  return hosts;
}

/// Checks that a port has the same rate at both ends.
/// errors  Corrupt: fabric.nic_rate differs from the rate of the host's NICs
Status check_nic_rate(const Cluster& cluster, const Host& host,
                      const std::vector<BytesPerSecond>& nics) {
  constexpr double kAlike = 0.02;  // rates in files are rounded
  const std::optional<BytesPerSecond>& rate = cluster.file.fabric.nic_rate;
  if (!rate) return {};
  for (const BytesPerSecond nic : nics) {
    if (std::abs(nic.value / rate->value - 1) <= kAlike) continue;
    return Error{
        ErrorCode::Corrupt,
        fmt::format("{}: nic_rate: {}, and the NICs of {} have {}", cluster.file.fabric.where,
                    format_bandwidth(*rate), host.name, format_bandwidth(nic)),
        "remove fabric.nic_rate; NICs of another rate are --set nic_rate=200Gbit/s, or "
        "nics: {rate: 200Gbit/s} of a host"};
  }
  return {};
}

/// Returns the index in `kinds` for a host of the cluster.
std::size_t kind_of(const std::vector<int>& first_hosts, int host) {
  const auto after = std::ranges::upper_bound(first_hosts, host);
  return static_cast<std::size_t>(after - first_hosts.begin()) - 1;
}

}  // namespace

int Cluster::nhosts() const {
  return std::accumulate(kinds.begin(), kinds.end(), 0,
                         [](int sum, const HostRun& run) { return sum + run.count; });
}

bool is_cluster(std::string_view text) { return is_cluster_text(text) || is_platform_text(text); }

Result<Cluster> load_cluster(const std::string& path, const std::vector<ClusterChange>& changes,
                             std::optional<int> nvl_domain, const std::string& node) {
  Cluster cluster;
  RINGSIDE_TRY(cluster.file, load_cluster_file(path, changes, node));
  const std::optional<int> domain = nvl_domain ? nvl_domain : cluster.file.nvl_domain;
  std::optional<int> known = domain;
  std::int64_t all = 0;
  for (const ClusterFile::Nodes& entry : cluster.file.nodes) {
    auto hosts = entry.description.empty()
                     ? load_hosts(source_of(entry.source, path), std::nullopt, domain)
                     : described_hosts(entry, domain);
    const auto bad = [&](const std::string& what, const std::string& help) {
      return Error{ErrorCode::Corrupt, fmt::format("{}: {}", entry.where, what), help};
    };
    if (!hosts && !entry.description.empty()) return hosts.error();  // the error names the place
    if (!hosts) return bad(hosts.error().message, hosts.error().help);
    if (hosts->runs.size() != 1) {
      return bad(fmt::format("'{}' is more than one host", entry.source), "give each an entry");
    }
    known = known.value_or(hosts->hosts_per_nvl_domain);
    if (*known != hosts->hosts_per_nvl_domain) {
      return bad("nodes of different NVLink domains in one cluster",
                 "count them host by host, and say with nvl_domain how many share one");
    }
    HostRun& run = cluster.kinds.emplace_back(std::move(hosts->runs.front()));
    all += static_cast<std::int64_t>(run.count) * entry.count;
    if (all > kMostFabricHosts) {
      return bad(fmt::format("more than {} hosts", kMostFabricHosts), "give fewer");
    }
    run.count *= entry.count;
  }
  cluster.hosts_per_domain = *known;
  if (all % *known != 0) {
    std::string where = path;
    if (nvl_domain) {
      where += fmt::format(" with --nvl-domain {}", *nvl_domain);
    } else if (cluster.file.nvl_domain) {
      where = cluster.file.nvl_domain_where;
    }
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: {} hosts in NVLink domains of {}", where, all, *known),
                 "give a number of hosts that the domains divide"};
  }
  return cluster;
}

Result<std::unique_ptr<const Fabric>> make_fabric(const Cluster& cluster) {
  std::vector<FabricHosts> hosts;
  for (const HostRun& run : cluster.kinds) {
    hosts.push_back({.count = run.count, .nics = nic_rates(run.host)});
    RINGSIDE_TRY(check_nic_rate(cluster, run.host, hosts.back().nics));
    if (!hosts.back().nics.empty()) continue;
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: {} has no NIC", cluster.file.fabric.where, run.host.name),
                 "nothing joins it with the other hosts: give it one, or leave it out"};
  }
  return make_fabric(cluster.file.fabric, std::move(hosts));
}

Result<PlacedHosts> place_job(const Cluster& cluster, std::optional<int> nodes) {
  const Placement& placement = cluster.file.placement;
  const bool is_listed = placement.kind == Placement::Kind::Listed;
  const int all = is_listed ? static_cast<int>(placement.list.size()) : cluster.nnodes();
  PlacedHosts placed;
  RINGSIDE_TRY(placed.nodes, place_nodes(placement, cluster.nnodes(), nodes.value_or(all)));

  std::vector<int> firsts;
  int next = 0;
  for (const HostRun& run : cluster.kinds) {
    firsts.push_back(next);
    next += run.count;
  }
  std::vector<int> run_of_kind(cluster.kinds.size(), -1);
  JobHosts& hosts = placed.hosts;
  hosts.hosts_per_nvl_domain = cluster.hosts_per_domain;
  for (const int node : placed.nodes) {
    for (int i = 0; i < cluster.hosts_per_domain; ++i) {
      const std::size_t kind = kind_of(firsts, node * cluster.hosts_per_domain + i);
      if (run_of_kind[kind] < 0) {
        run_of_kind[kind] = static_cast<int>(hosts.runs.size());
        hosts.runs.push_back({cluster.kinds[kind].host, 0});
      }
      ++hosts.runs[static_cast<std::size_t>(run_of_kind[kind])].count;
      hosts.order.push_back(run_of_kind[kind]);
    }
  }
  if (std::ranges::is_sorted(hosts.order)) hosts.order.clear();
  return placed;
}

std::vector<int> first_hosts(const Job& job, const PlacedHosts& placed) {
  std::vector<std::size_t> gpus;  // [run]
  for (const HostRun& run : placed.hosts.runs) gpus.push_back(gpus_of(run.host).size());
  std::vector<int> domain_of_rank;
  const int each = placed.hosts.hosts_per_nvl_domain;
  const std::vector<int> runs = run_of_hosts(placed.hosts);
  for (std::size_t host = 0; host < runs.size(); ++host) {
    domain_of_rank.insert(domain_of_rank.end(), gpus[static_cast<std::size_t>(runs[host])],
                          static_cast<int>(host) / each);
  }
  std::vector<int> firsts;
  for (const JobNode& node : job.nodes) {
    const int domain = domain_of_rank[static_cast<std::size_t>(node.ranks.front())];
    firsts.push_back(placed.nodes[static_cast<std::size_t>(domain)] * each);
  }
  return firsts;
}

std::vector<int> nic_numbers(const System& system) {
  const auto& nets = system.nodes[static_cast<std::size_t>(NodeKind::Net)];
  std::vector<std::size_t> order(nets.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::pair{nets[a].host, nets[a].id} < std::pair{nets[b].host, nets[b].id};
  });
  std::vector<int> numbers(nets.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_first = i == 0 || nets[order[i]].host != nets[order[i - 1]].host;
    numbers[order[i]] = is_first ? 0 : numbers[order[i - 1]] + 1;
  }
  return numbers;
}

}  // namespace ringside
