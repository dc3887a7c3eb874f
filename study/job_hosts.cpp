#include "study/job_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/shipped_file.h"
#include "engine/topology/sources/description_file.h"
#include "engine/topology/sources/load_hosts.h"
#include "sim/fabric/fabric_word.h"
#include "sim/fabric/platform.h"
#include "study/even_domains.h"
#include "study/job_settings.h"

namespace ringside::study {
namespace {

// ---- what --on names ---------------------------------------------------------------------------

bool is_cluster_file(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return false;
  const Result<std::string> text = read_description(path);
  return text && is_cluster(*text);
}

/// A cluster file that --on names.
struct ClusterFile {
  std::string path;
  std::string node;  ///< the type of hosts whose type the file lacks; empty: none given
};

/// Returns the cluster file of `cluster.yaml` or `dgx-h100@platform.xml`; nullopt: the text names hosts.
std::optional<ClusterFile> find_cluster(const std::string& on) {
  const std::string path = shipped_file(on).value_or(on);
  if (is_cluster_file(path)) return ClusterFile{path, {}};
  for (std::size_t at = on.find('@'); at != std::string::npos; at = on.find('@', at + 1)) {
    if (is_cluster_file(on.substr(at + 1))) return ClusterFile{on.substr(at + 1), on.substr(0, at)};
  }
  return std::nullopt;
}

/// Checks that no part of a list of hosts (`a:2,b`) is a cluster file, which describes a whole job.
/// errors  InvalidArgument: one is
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

// ---- checks ------------------------------------------------------------------------------------

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

/// Returns whether some NIC of one host has a path to some NIC of the other.
bool are_joined(const Fabric& fabric, int from, int to) {
  for (int out = 0; out < fabric.nics_of(from); ++out) {
    for (int in = 0; in < fabric.nics_of(to); ++in) {
      if (!fabric.route({from, out}, {to, in}, 0).links.empty()) return true;
    }
  }
  return false;
}

/// "host 3 (node-3, dgx-h100)": number, name in the platform file if there is one, type.
std::string host_text(const AskedFabric& asked, int host) {
  int end = 0;  // of the hosts of a kind
  const auto kind = std::ranges::find_if(asked.cluster.kinds, [&](const HostRun& run) {
    end += run.count;
    return host < end;
  });
  const Platform* const platform = asked.fabric->settings().platform.get();
  if (platform == nullptr) return fmt::format("host {} ({})", host, kind->host.name);
  return fmt::format("host {} ({}, {})", host, platform->hosts[static_cast<std::size_t>(host)].name,
                     kind->host.name);
}

/// Checks that each host of a job can reach the next one: hosts without a path are reported before any message is
/// routed.
/// errors  InvalidArgument: no NIC of one host has a path to any NIC of the other
Status check_joined(const AskedFabric& asked) {
  const int each = asked.cluster.hosts_per_domain;
  std::vector<int> hosts;
  for (const int node : asked.nodes) {
    for (int i = 0; i < each; ++i) hosts.push_back(node * each + i);
  }
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    if (are_joined(*asked.fabric, hosts[i - 1], hosts[i])) continue;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}: no path from {} to {}", asked.fabric->settings().where,
                             host_text(asked, hosts[i - 1]), host_text(asked, hosts[i])),
                 "give the fabric links that join them, or the job another placement"};
  }
  return {};
}

// ---- hosts -------------------------------------------------------------------------------------

using OnHost = std::function<void(Host&)>;

/// Returns the changes of the options, overridden by the settings.
/// errors  as apply_host_setting()
Result<HostChanges> host_changes(const JobOptions& options, const JobSettings& settings) {
  HostChanges changes = options.hosts;
  for (const auto& [key, value] : settings.hosts) {
    RINGSIDE_TRY(apply_host_setting(changes, key, value));
  }
  return changes;
}

/// errors  as change_host()
Status change_hosts(std::vector<HostRun>& runs, const HostChanges& changes, const OnHost& on_host) {
  for (HostRun& run : runs) {
    RINGSIDE_TRY(change_host(run.host, changes));
    if (on_host) on_host(run.host);
  }
  return {};
}

/// Builds the fabric of a cluster and places a job in it.
/// nodes   of the job; nullopt: all of the cluster
/// errors  as make_fabric(), place_job(), check_joined()
Result<FoundHosts> placed_hosts(Cluster cluster, std::optional<int> nodes) {
  AskedFabric found;
  found.cluster = std::move(cluster);
  RINGSIDE_TRY(found.fabric, make_fabric(found.cluster));
  RINGSIDE_TRY(PlacedHosts placed, place_job(found.cluster, nodes));
  found.nodes = std::move(placed.nodes);
  RINGSIDE_TRY(check_joined(found));
  return FoundHosts{std::move(placed.hosts), std::move(found)};
}

/// errors  as load_cluster(), change_host(), placed_hosts(). InvalidArgument: a fabric's word, or NODE@ before a
///         file that names its nodes
Result<FoundHosts> hosts_of_cluster(const ClusterFile& file, const JobOptions& options,
                                    const JobSettings& settings, const OnHost& on_host) {
  if (!options.fabric.empty()) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--fabric {}: {} describes its own fabric", options.fabric, file.path),
                 "set keys of it, such as --set fabric.oversubscription=2"};
  }
  RINGSIDE_TRY(const HostChanges changes, host_changes(options, settings));
  RINGSIDE_TRY(Cluster cluster,
               load_cluster(file.path, settings.cluster, options.nvl_domain, file.node));
  if (!file.node.empty() && cluster.file.fabric.platform == nullptr) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--on {}: {} names the types of its nodes", options.on, file.path),
                 "NODE@FILE is for a SimGrid platform; give the file alone"};
  }
  RINGSIDE_TRY(change_hosts(cluster.kinds, changes, on_host));
  return placed_hosts(std::move(cluster), options.nodes);
}

/// Loads hosts that no cluster file describes, and the fabric that a word gives them, if one does.
/// errors  as load_hosts(), change_host(), cluster_in_fabric(), placed_hosts(). InvalidArgument: settings of a fabric
///         without one
Result<FoundHosts> hosts_of_list(const JobOptions& options, const JobSettings& settings,
                                 const OnHost& on_host) {
  if (!settings.cluster.empty() && options.fabric.empty()) {
    const auto& [key, value] = settings.cluster.front();
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}={} on {}, which has no fabric", key, value, options.on),
                 "add --fabric leaf_spine, or give --on a cluster's file "
                 "(docs/reference/clusters.md)"};
  }
  RINGSIDE_TRY(const HostChanges changes, host_changes(options, settings));
  RINGSIDE_TRY(check_cluster_alone(options.on));
  const std::optional<int> nodes = options.fabric_nodes ? options.fabric_nodes : options.nodes;
  RINGSIDE_TRY(JobHosts hosts, load_hosts(options.on, nodes, options.nvl_domain));
  RINGSIDE_TRY(change_hosts(hosts.runs, changes, on_host));
  if (options.fabric.empty()) return FoundHosts{.hosts = std::move(hosts)};
  RINGSIDE_TRY(Cluster cluster,
               cluster_in_fabric(std::move(hosts), options.fabric, settings.cluster));
  // Without --fabric-nodes the fabric connects the job's nodes and no others.
  RINGSIDE_TRY(FoundHosts found,
               placed_hosts(std::move(cluster),
                            options.fabric_nodes ? options.nodes : std::optional<int>{}));
  found.fabric->is_by_word = true;
  return found;
}

// ---- --gpus ------------------------------------------------------------------------------------

/// The unit in which the hosts of a job can be taken.
struct HostUnit {
  int gpus = 1;   ///< of one unit
  int nodes = 1;  ///< what JobOptions::nodes counts for one unit
  const char* text = "a host";
};

Error bad_gpus(int gpus, const std::string& what, const std::string& help) {
  return {ErrorCode::InvalidArgument, fmt::format("--gpus {}: {}", gpus, what), help};
}

}  // namespace

Result<JobOptions> with_nodes(const JobOptions& options) {
  if (!options.gpus) return options;
  const int gpus = *options.gpus;
  if (options.nodes) return bad_gpus(gpus, "--nodes as well", "give one of both");

  JobOptions counted = options;
  counted.gpus.reset();
  const bool is_file = find_cluster(options.on).has_value();
  if (!is_file) counted.nodes = options.nvl_domain;
  RINGSIDE_TRY(const JobHosts hosts, load_job_hosts(counted));
  const auto gpus_of_run = [](const HostRun& run) {
    return static_cast<int>(gpus_of(run.host).size());
  };
  const int each = gpus_of_run(hosts.runs.front());
  if (!std::ranges::all_of(hosts.runs,
                           [&](const HostRun& run) { return gpus_of_run(run) == each; })) {
    return bad_gpus(gpus, "hosts with different numbers of GPUs", "give --nodes");
  }
  const int domain = hosts.hosts_per_nvl_domain;

  // Neither a file nor --nvl-domain: the job may take a part of each domain.
  const bool is_domain_free = !is_file && !options.nvl_domain;
  if (is_domain_free) {
    if (const auto even = even_domains(gpus, each, domain)) {
      counted.nvl_domain = even->hosts_each;
      counted.nodes = even->domains * even->hosts_each;
      return counted;
    }
  }
  const bool is_within_domain = is_domain_free && domain > 1 && gpus < each * domain;
  HostUnit unit{.gpus = each};
  if (domain > 1 && !is_within_domain) {
    // With --nvl-domain, nodes are hosts; else they are the domains of a preset or a file.
    unit = {.gpus = each * domain,
            .nodes = options.nvl_domain && !is_file ? domain : 1,
            .text = "an NVLink domain"};
  }
  if (gpus < 1 || gpus % unit.gpus != 0) {
    return bad_gpus(gpus, fmt::format("not a multiple of the {} GPUs of {}", unit.gpus, unit.text),
                    fmt::format("give --gpus {}", std::max(1, gpus / unit.gpus) * unit.gpus));
  }
  counted.nodes = gpus / unit.gpus * unit.nodes;
  if (is_within_domain) counted.nvl_domain = counted.nodes;
  return counted;
}

JobOptions smallest_job(JobOptions options) {
  options.gpus.reset();
  options.nodes = find_cluster(options.on) ? 1 : options.nvl_domain;
  return options;
}

Result<FoundHosts> find_hosts(const JobOptions& asked, const OnHost& on_host) {
  RINGSIDE_TRY(JobOptions options, with_nodes(asked));
  RINGSIDE_TRY(const JobSettings settings, parse_job_settings(options.set));
  if (settings.fabric) options.fabric = *settings.fabric;
  FoundHosts found;
  if (const auto file = find_cluster(options.on)) {
    RINGSIDE_TRY(found, hosts_of_cluster(*file, options, settings, on_host));
  } else {
    RINGSIDE_TRY(found, hosts_of_list(options, settings, on_host));
  }
  RINGSIDE_TRY(check_gpus(found.hosts));
  return found;
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

}  // namespace ringside::study
