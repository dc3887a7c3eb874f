#include "harness/logs/log_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "engine/releases/releases.h"
#include "engine/topology/host_edit.h"
#include "harness/logs/noise.h"

namespace ringside {
namespace {

/// Keys that make independent random numbers from one seed.
constexpr int kHostsInSubnet = 250;  ///< of 10.20.x.0/24
constexpr int kCpusOfNode = 32;      ///< CPUs of a NUMA node in the written masks

std::size_t to_size(int index) { return static_cast<std::size_t>(index); }

/// Returns the address of a host in 10.20.0.0/16.
std::string address_of(int host) {
  return fmt::format("10.20.{}.{}", host / kHostsInSubnet, host % kHostsInSubnet + 1);
}

/// Returns the processors of a NUMA node: those of the host's description, else 32.
std::string cpus_of(const HostCpu& cpu) {
  if (!cpu.affinity.empty()) return cpu.affinity;
  std::string mask = "ffffffff";
  for (int i = 0; i < cpu.numa * kCpusOfNode / 32; ++i) mask += ",00000000";
  return mask;
}

/// Returns the bootstrap interface; on hosts without RDMA it is the NIC itself.
std::string interface_name(const HostNetwork& network) {
  const bool is_socket = network.kind == NetworkKind::Socket && !network.devices.empty();
  return is_socket ? network.devices.front().name : "eth0";
}

int count_hosts(const JobHosts& hosts) {
  return std::accumulate(hosts.runs.begin(), hosts.runs.end(), 0,
                         [](int sum, const HostRun& run) { return sum + run.count; });
}

int setting_or(const std::vector<Setting>& settings, std::string_view name, int fallback) {
  const auto found = std::ranges::find(settings, name, &Setting::name);
  if (found == settings.end()) return fallback;
  return found->value == "0" ? 0 : 1;
}

}  // namespace

Result<LogJob> LogJob::make(LogRequest request) {
  LogJob job{std::move(request)};
  RINGSIDE_TRY(job.read_environment());
  job.name_hosts();
  RINGSIDE_TRY(job.add_generations());
  return job;
}

Status LogJob::read_environment() {
  const NcclVersion version = request_.version;
  if (!request_.environment) {
    request_.environment = [](const char*) { return std::optional<std::string>{}; };
  }
  release_ = nearest_release(version.minor, version.patch);
  RINGSIDE_TRY(topology_, parse_topology_parameters(request_.environment, release_));
  RINGSIDE_TRY(channels_, parse_channel_parameters(request_.environment, release_));
  RINGSIDE_TRY(tuning_, parse_tuning_parameters(request_.environment));
  has_cumem_ = version.is_from(19) && setting_or(request_.settings, "NCCL_CUMEM_ENABLE", 1) != 0;
  if (version.is_before(20)) request_.hosts.hosts_per_nvl_domain = 1;
  if (version.is_before(12)) topology_.pxn_disable = true;
  if (version.is_before(8)) topology_.nvb_disable = true;
  if (request_.has_partial_nvls) channels_.nvls_enable = 0;
  const bool is_inter = count_hosts(request_.hosts) > 1;
  if (version.is_before(17) || (version.is_before(18) && is_inter)) channels_.nvls_enable = 0;
  return {};
}

void LogJob::name_hosts() {
  const int digits = count_hosts(request_.hosts) > 999 ? 5 : 3;
  for (std::size_t run = 0; run < request_.hosts.runs.size(); ++run) {
    auto& [host, count] = request_.hosts.runs[run];
    const std::vector<HostGpuPlace> gpus = gpu_places_of(host);
    for (int i = 0; i < count; ++i) {
      const int index = static_cast<int>(hosts_.size());
      LogHost named{.version = request_.version, .settings = request_.settings};
      const auto difference = request_.differences.find(index);
      if (difference != request_.differences.end()) {
        const HostDifference& other = difference->second;
        named.version = other.version.value_or(named.version);
        named.settings.insert(named.settings.end(), other.settings.begin(), other.settings.end());
        named.lacks_nvls = other.lacks_nvls;
      }
      named.name = fmt::format("{}-{:0{}}", host.name, index + 1, digits);
      named.network = network_of(host, named.version);
      named.interface = {interface_name(named.network), address_of(index)};
      if (request_.bootstrap) named.interface = *request_.bootstrap;
      const int first_pid =
          2000 + static_cast<int>(noise(request_.seed, kPid, to_size(index)) % 90'000) * 10;
      for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
        const int local = static_cast<int>(gpu);
        processes_.push_back({index, local, first_pid + local, cpus_of(*gpus[gpu].cpu)});
      }
      hosts_.push_back(std::move(named));
      run_of_host_.push_back(static_cast<int>(run));
    }
  }
}

Result<std::shared_ptr<const CommunicatorLayout>> LogJob::layout_of(const JobHosts& hosts) const {
  RINGSIDE_TRY(Job job, make_job(hosts, topology_, channels_));
  RINGSIDE_TRY(Tuner tuner, Tuner::make(job.connection.shape, tuning_, release_));
  return std::make_shared<const CommunicatorLayout>(
      std::move(job), std::make_shared<const Tuner>(std::move(tuner)));
}

void LogJob::number(Generation& generation, int index) const {
  for (std::size_t i = 0; i < generation.communicators.size(); ++i) {
    generation.communicators[i].id = noise(request_.seed, kCommunicator + to_size(index) * 16, i);
  }
}

Result<Generation> LogJob::world() const {
  Generation generation;
  RINGSIDE_TRY(auto layout, layout_of(request_.hosts));
  LogCommunicator communicator{.layout = std::move(layout)};
  communicator.members.resize(processes_.size());
  std::iota(communicator.members.begin(), communicator.members.end(), 0);
  generation.communicators.push_back(std::move(communicator));
  generation.of_process.assign(processes_.size(), 0);
  return generation;
}

/// Makes a communicator for each host, or NVLink domain of hosts, that has several ranks.
Result<Generation> LogJob::node_groups() const {
  Generation generation;
  generation.of_process.assign(processes_.size(), -1);
  const int each = request_.hosts.hosts_per_nvl_domain;
  std::map<std::vector<int>, std::shared_ptr<const CommunicatorLayout>> known;
  std::map<int, std::vector<int>> members;  // [group]
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    members[processes_[i].host / each].push_back(static_cast<int>(i));
  }
  for (auto& [group, processes] : members) {
    if (processes.size() < 2) continue;
    std::vector<int> runs{run_of_host_.begin() + group * each,
                          run_of_host_.begin() + (group + 1) * each};
    auto& layout = known[runs];
    if (!layout) {
      JobHosts hosts{.hosts_per_nvl_domain = each};
      for (const int run : runs) hosts.runs.push_back({request_.hosts.runs[to_size(run)].host, 1});
      RINGSIDE_TRY(layout, layout_of(hosts));
    }
    for (const int process : processes) {
      generation.of_process[to_size(process)] = static_cast<int>(generation.communicators.size());
    }
    generation.communicators.push_back({.layout = layout, .members = std::move(processes)});
  }
  return generation;
}

/// Makes a communicator for each local rank number, over all hosts.
Result<Generation> LogJob::place_groups() const {
  Generation generation;
  generation.of_process.assign(processes_.size(), -1);
  if (request_.hosts.hosts_per_nvl_domain > 1) return generation;
  std::map<int, std::vector<int>> members;  // [local rank]
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    members[processes_[i].local].push_back(static_cast<int>(i));
  }
  for (auto& [place, processes] : members) {
    if (processes.size() < 2) continue;
    JobHosts hosts;
    for (const HostRun& run : request_.hosts.runs) {
      if (gpus_of(run.host).size() <= to_size(place)) continue;
      hosts.runs.push_back(run);
      keep_gpus(hosts.runs.back().host, std::array{place});
    }
    RINGSIDE_TRY(const auto layout, layout_of(hosts));
    for (const int process : processes) {
      generation.of_process[to_size(process)] = static_cast<int>(generation.communicators.size());
    }
    generation.communicators.push_back({.layout = layout, .members = std::move(processes)});
  }
  return generation;
}

Status LogJob::add_generations() {
  const bool begins_with_nodes =
      request_.incident.kind == IncidentKind::OtherVersion && request_.version.is_before(22);
  RINGSIDE_TRY(Generation all, world());
  Generation nodes;
  Generation places;
  if (request_.repeat > 0 || begins_with_nodes) {
    RINGSIDE_TRY(nodes, node_groups());
  }
  if (request_.repeat > 0) {
    RINGSIDE_TRY(places, place_groups());
  }
  // Up to 2.21 only the first rank of a communicator prints its version.
  if (begins_with_nodes && !nodes.communicators.empty()) generations_.push_back(nodes);
  generations_.push_back(std::move(all));
  for (int i = 0; i < request_.repeat; ++i) {
    for (const Generation* generation : {&nodes, &places}) {
      if (!generation->communicators.empty()) generations_.push_back(*generation);
    }
  }
  for (std::size_t i = 0; i < generations_.size(); ++i) {
    number(generations_[i], static_cast<int>(i));
  }
  return {};
}

ConnectionRules LogJob::rules(const LogHost& host) const {
  return {.version = host.version,
          .topology = topology_,
          .network = host.network.name,
          .has_cumem = has_cumem_,
          .refuses_p2p = request_.refuses_p2p};
}

Subsystems LogJob::shown(const LogHost& host) const {
  return request_.shown.value_or(default_subsystems(host.version));
}

}  // namespace ringside
