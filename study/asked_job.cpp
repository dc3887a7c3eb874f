#include "study/asked_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "base/shipped_file.h"
#include "base/suggest.h"
#include "engine/topology/merge_nets.h"
#include "engine/topology/sources/description_file.h"
#include "engine/topology/sources/load_hosts.h"
#include "engine/tuning/parameters.h"
#include "sim/fabric/fabric_word.h"
#include "sim/fabric/platform.h"
#include "study/even_domains.h"
#include "study/idle_variables.h"

namespace ringside::study {
namespace {

/// A machine can have no GPU; a job needs them.
Status check_gpus(const JobHosts& hosts) {
  for (const HostRun& run : hosts.runs) {
    if (!gpus_of(run.host).empty()) continue;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} has no GPU that takes part: {} NUMA nodes, and nothing to connect",
                             run.host.name, run.host.cpus.size()),
                 fmt::format("look at a preset instead: {}", fmt::join(host_preset_names(), ", "))};
  }
  return {};
}

/// A fabric's word among settings.
constexpr std::string_view kFabricSetting = "fabric=";

bool is_for_hosts(const std::string& setting) {
  return is_host_key(std::string_view(setting).substr(0, setting.find('=')));
}

/// Returns the changes to the hosts: those of the options, with the settings over them.
/// errors  InvalidArgument: no `=`, or a value that cannot be
Result<HostChanges> host_changes(const JobOptions& options) {
  HostChanges changes = options.hosts;
  for (const std::string& setting : options.set) {
    if (!is_for_hosts(setting)) continue;
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      return Error{ErrorCode::InvalidArgument, fmt::format("--set '{}' is not NAME=VALUE", setting),
                   "such as --set nics=4"};
    }
    RINGSIDE_TRY(
        apply_host_setting(changes, setting.substr(0, equals), setting.substr(equals + 1)));
  }
  return changes;
}

/// Returns the settings that belong to the cluster.
/// errors  InvalidArgument: no `=`
Result<std::vector<ClusterChange>> cluster_changes(const JobOptions& options) {
  std::vector<ClusterChange> changes;
  for (const std::string& setting : options.set) {
    if (!is_fabric_setting(setting) || setting.starts_with(kFabricSetting)) continue;
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      return Error{ErrorCode::InvalidArgument, fmt::format("--set '{}' is not NAME=VALUE", setting),
                   "such as --set fabric.routing=adaptive"};
    }
    changes.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return changes;
}

/// Returns the word for the job's fabric; empty: none.
std::string fabric_word(const JobOptions& options) {
  std::string word = options.fabric;
  for (const std::string& setting : options.set) {
    if (setting.starts_with(kFabricSetting)) word = setting.substr(kFabricSetting.size());
  }
  return word;
}

/// Returns whether the word names a cluster file rather than a host.
bool is_cluster_file(const std::string& on) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(on, failed)) return false;
  const Result<std::string> text = read_description(on);
  return text && is_cluster(*text);
}

/// `dgx-h100@platform.xml`: the file, and the host type for hosts whose type the file lacks.
struct AskedCluster {
  std::string path, node;
};
std::optional<AskedCluster> find_cluster(const std::string& on) {
  const std::string place = shipped_file(on).value_or(on);
  if (is_cluster_file(place)) return AskedCluster{place, {}};
  for (std::size_t at = on.find('@'); at != std::string::npos; at = on.find('@', at + 1)) {
    if (is_cluster_file(on.substr(at + 1)))
      return AskedCluster{on.substr(at + 1), on.substr(0, at)};
  }
  return std::nullopt;
}

/// A cluster file describes a whole job: it must be the only argument, without a count.
/// errors  InvalidArgument: one among several words, or with a count
Status check_cluster_alone(const std::string& on) {
  for (std::size_t from = 0; from <= on.size();) {
    const std::size_t comma = std::min(on.find(',', from), on.size());
    const std::string part = on.substr(from, comma - from);
    if (is_cluster_file(part) || is_cluster_file(part.substr(0, part.rfind(':')))) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("--on {}: a cluster file must be the only argument", on),
                   "give it alone; --nodes says how many of its nodes the job takes"};
    }
    from = comma + 1;
  }
  return {};
}

/// Checks that each host of a job can reach the next one: hosts without a path are reported before any message is
/// routed.
/// errors  InvalidArgument: no NIC of one host has a path to any NIC of the other
Status check_joined(const AskedFabric& asked) {
  const Fabric& fabric = *asked.fabric;
  const int each = asked.cluster.hosts_per_domain;
  std::vector<int> hosts;
  for (const int node : asked.nodes) {
    for (int i = 0; i < each; ++i) hosts.push_back(node * each + i);
  }
  const auto is_way = [&](int from, int to) {
    for (int out = 0; out < fabric.nics_of(from); ++out) {
      for (int in = 0; in < fabric.nics_of(to); ++in) {
        if (!fabric.way({from, out}, {to, in}, 0).links.empty()) return true;
      }
    }
    return false;
  };
  const auto named = [&](int host) {
    int first = 0;
    const auto kind = std::ranges::find_if(
        asked.cluster.kinds, [&](const HostRun& run) { return host < (first += run.count); });
    const Platform* const platform = fabric.settings().platform.get();
    if (platform == nullptr) return fmt::format("host {} ({})", host, kind->host.name);
    return fmt::format("host {} ({}, {})", host,
                       platform->hosts[static_cast<std::size_t>(host)].name, kind->host.name);
  };
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    if (is_way(hosts[i - 1], hosts[i])) continue;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}: no path from {} to {}", fabric.settings().where,
                             named(hosts[i - 1]), named(hosts[i])),
                 "give the fabric links that join them, or the job another placement"};
  }
  return {};
}

struct FoundHosts {
  JobHosts hosts;
  std::optional<AskedFabric> fabric;
};

/// nodes  of the job; none: all of the cluster
Result<FoundHosts> placed_hosts(Cluster cluster, std::optional<int> nodes) {
  AskedFabric found;
  found.cluster = std::move(cluster);
  RINGSIDE_TRY(found.fabric, make_fabric(found.cluster));
  RINGSIDE_TRY(PlacedHosts placed, place_job(found.cluster, nodes));
  found.nodes = std::move(placed.nodes);
  RINGSIDE_TRY(check_joined(found));
  return FoundHosts{std::move(placed.hosts), std::move(found)};
}

/// Changes that NCCL makes to a host's NICs before it searches paths.
using OnHost = std::function<void(Host&)>;

Result<FoundHosts> hosts_of_cluster(const AskedCluster& asked, const JobOptions& options,
                                    const OnHost& on_host) {
  if (const std::string word = fabric_word(options); !word.empty()) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--fabric {}: {} describes its own fabric", word, asked.path),
                 "set keys of it, such as --set fabric.oversubscription=2"};
  }
  RINGSIDE_TRY(const auto changes, cluster_changes(options));
  RINGSIDE_TRY(const HostChanges of_hosts, host_changes(options));
  RINGSIDE_TRY(Cluster cluster, load_cluster(asked.path, changes, options.nvl_domain, asked.node));
  if (!asked.node.empty() && cluster.file.fabric.platform == nullptr) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--on {}: {} says itself which nodes it has", options.on, asked.path),
                 "NODE@FILE is for a SimGrid platform; give the file alone"};
  }
  for (HostRun& run : cluster.kinds) {
    RINGSIDE_TRY(change_host(run.host, of_hosts));
    if (on_host) on_host(run.host);
  }
  return placed_hosts(std::move(cluster), options.nodes);
}

/// Returns the hosts that a fabric word connects: all of them belong to the job, unless the fabric has more.
Result<FoundHosts> hosts_in_fabric(JobHosts hosts, const std::string& word,
                                   const JobOptions& options) {
  RINGSIDE_TRY(const auto changes, cluster_changes(options));
  RINGSIDE_TRY(Cluster cluster, cluster_in_fabric(std::move(hosts), word, changes));
  RINGSIDE_TRY(FoundHosts found,
               placed_hosts(std::move(cluster),
                            options.fabric_nodes ? options.nodes : std::optional<int>{}));
  found.fabric->is_by_word = true;
  return found;
}

Result<FoundHosts> find_hosts(const JobOptions& asked, const OnHost& on_host = {}) {
  RINGSIDE_TRY(const JobOptions options, with_nodes(asked));
  FoundHosts found;
  if (const auto cluster = find_cluster(options.on)) {
    RINGSIDE_TRY(found, hosts_of_cluster(*cluster, options, on_host));
  } else {
    const std::string word = fabric_word(options);
    const auto lost = std::ranges::find_if(options.set, is_fabric_setting);
    if (lost != options.set.end() && word.empty()) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{} on {}, which has no fabric", *lost, options.on),
                   "add --fabric leaf_spine, or give --on a cluster's file "
                   "(docs/reference/clusters.md)"};
    }
    RINGSIDE_TRY(const HostChanges of_hosts, host_changes(options));
    RINGSIDE_TRY(check_cluster_alone(options.on));
    RINGSIDE_TRY(found.hosts,
                 load_hosts(options.on, options.fabric_nodes.value_or(options.nodes.value_or(1)),
                            options.nvl_domain));
    for (HostRun& run : found.hosts.runs) {
      RINGSIDE_TRY(change_host(run.host, of_hosts));
      if (on_host) on_host(run.host);
    }
    if (!word.empty()) {
      RINGSIDE_TRY(found, hosts_in_fabric(std::move(found.hosts), word, options));
    }
  }
  RINGSIDE_TRY(check_gpus(found.hosts));
  return found;
}

Result<AskedJob> load_job_under(const JobOptions& options, const Environment& environment,
                                std::string_view version) {
  RINGSIDE_TRY(const TopologyParameters topology, parse_topology_parameters(environment, version));
  RINGSIDE_TRY(const ChannelParameters channels, parse_channel_parameters(environment, version));
  RINGSIDE_TRY(FoundHosts found,
               find_hosts(options, [&](Host& host) { merge_nets(host, topology); }));
  RINGSIDE_TRY(Job job, make_job(found.hosts, topology, channels));
  if (found.fabric)
    found.fabric->first_hosts = first_hosts(job, {found.hosts, found.fabric->nodes});
  return AskedJob{topology, std::move(found.hosts), std::move(job), std::move(found.fabric)};
}

Result<TunedJob> load_tuned_job_under(const JobOptions& options, const Environment& environment,
                                      std::string_view version) {
  RINGSIDE_TRY(const TuningParameters tuning, parse_tuning_parameters(environment));
  RINGSIDE_TRY(AskedJob asked, load_job_under(options, environment, version));
  RINGSIDE_TRY(Tuner tuner, Tuner::make(asked.job.connection.shape, tuning, version));
  return TunedJob{std::move(asked), std::move(tuner)};
}

/// Suggests the three nearest variables, and where all are listed.
std::string nearest_variables(std::string_view name, std::vector<std::string_view> known) {
  constexpr std::size_t kShown = 3;
  known.insert(known.end(), {"nics", "nic_rate", "drop_rail", "gdr"});
  const std::string_view nearest = nearest_word(name, known);
  std::ranges::stable_sort(known, {}, [&](std::string_view one) {
    return one == nearest ? -1 : edit_distance(name, one);
  });
  known.resize(std::min(known.size(), kShown));
  return fmt::format("{}nearest: {}; all: docs/reference/environment.md",
                     nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest),
                     fmt::join(known, ", "));
}

}  // namespace

Result<Environment> environment_with(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> values;
  const std::vector<std::string_view> known = known_variables();
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{ErrorCode::InvalidArgument, fmt::format("--set '{}' is not NAME=VALUE", setting),
                   "such as --set NCCL_ALGO=Ring"};
    }
    const std::string name = setting.substr(0, equals);
    if (is_idle_variable(name)) continue;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("variable '{}' decides nothing here", name),
                   name == "NCCL_IB_DISABLE" ? "--net tcp simulates sockets in place of RDMA"
                                             : nearest_variables(name, known)};
    }
    values[name] = setting.substr(equals + 1);
  }
  return Environment{[values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return env_text(name);
    if (found->second.empty()) return std::nullopt;
    return found->second;
  }};
}

Result<Environment> environment_of(const JobOptions& options) {
  std::vector<std::string> variables = options.set;
  std::erase_if(variables, is_fabric_setting);
  std::erase_if(variables, is_for_hosts);
  return environment_with(variables);
}

bool is_fabric_setting(const std::string& setting) {
  return setting.starts_with(kFabricSetting) ||
         is_cluster_key(std::string_view(setting).substr(0, setting.find('=')));
}

Result<JobOptions> with_nodes(const JobOptions& options) {
  if (!options.gpus) return options;
  const int gpus = *options.gpus;
  const auto bad = [gpus](const std::string& what, const std::string& help) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--gpus {}: {}", gpus, what), help};
  };
  if (options.nodes) return bad("--nodes as well", "give one of both");
  JobOptions one = options;
  one.gpus.reset();
  const bool is_file = find_cluster(options.on).has_value();
  if (!is_file) one.nodes = options.nvl_domain.value_or(1);
  RINGSIDE_TRY(const JobHosts hosts, load_job_hosts(one));
  const int each = static_cast<int>(gpus_of(hosts.runs.front().host).size());
  const bool is_alike = std::ranges::all_of(hosts.runs, [&](const HostRun& run) {
    return static_cast<int>(gpus_of(run.host).size()) == each;
  });
  if (!is_alike) return bad("hosts with different numbers of GPUs", "give --nodes");
  const int domain = hosts.hosts_per_nvl_domain;
  const auto even = options.nvl_domain || is_file ? std::nullopt : even_domains(gpus, each, domain);
  if (even) {
    one.nvl_domain = even->hosts_each;
    one.nodes = even->domains * even->hosts_each;
    return one;
  }
  // A part of one domain is counted in hosts, as is all of a domain whose size is given.
  const bool is_part = !is_file && !options.nvl_domain && domain > 1 && gpus < each * domain;
  const int whole = each * (is_part ? 1 : domain);
  if (gpus < 1 || gpus % whole != 0) {
    return bad(fmt::format("not a multiple of the {} GPUs of {}", whole,
                           domain > 1 && !is_part ? "an NVLink domain" : "a host"),
               fmt::format("give --gpus {}", std::max(1, gpus / whole) * whole));
  }
  one.nodes = gpus / whole * (options.nvl_domain && !is_file ? domain : 1);
  if (is_part) one.nvl_domain = one.nodes;
  return one;
}

Result<JobHosts> load_job_hosts(const JobOptions& options) {
  RINGSIDE_TRY(FoundHosts found, find_hosts(options));
  JobHosts in_runs{.hosts_per_nvl_domain = found.hosts.hosts_per_nvl_domain};
  for (std::size_t i = 0, last = 0; const int run : run_of_hosts(found.hosts)) {
    const auto index = static_cast<std::size_t>(run);
    if (i++ == 0 || index != last) in_runs.runs.push_back({found.hosts.runs[index].host, 0});
    ++in_runs.runs.back().count;
    last = index;
  }
  return in_runs;
}

JobFabric AskedJob::job_fabric() const {
  if (!fabric) return {};
  return {.fabric = fabric->fabric.get(), .first_hosts = fabric->first_hosts};
}

Result<AskedJob> load_job(const JobOptions& options, std::string_view version) {
  RINGSIDE_TRY(const Environment environment, environment_of(options));
  return load_job_under(options, environment, version);
}

Result<TunedJob> load_tuned_job(const JobOptions& options, std::string_view version) {
  RINGSIDE_TRY(const Environment environment, environment_of(options));
  return load_tuned_job_under(options, environment, version);
}

Result<TunedJob> load_tuned_preset(const std::string& on, int nodes) {
  const Environment nothing = [](const char*) -> std::optional<std::string> { return {}; };
  return load_tuned_job_under({.on = on, .nodes = nodes}, nothing, kDefaultRelease);
}

}  // namespace ringside::study
