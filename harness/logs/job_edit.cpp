#include "harness/logs/job_edit.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/releases/releases.h"
#include "engine/topology/rules.h"
#include "harness/logs/noise.h"

namespace ringside {
namespace {

constexpr int kHopper = 90;

Host first_host(const LogRequest& request) { return request.hosts.runs.front().host; }

bool shares_switch(const std::vector<HostPci>& functions) {
  int gpus = 0;
  for (const HostPci& function : functions) {
    if (function.gpu && function.gpu->nvlinks.empty()) ++gpus;
    if (shares_switch(function.children)) return true;
  }
  return gpus > 1;
}

}  // namespace

int count_hosts(const LogRequest& request) {
  return std::accumulate(request.hosts.runs.begin(), request.hosts.runs.end(), 0,
                         [](int sum, const HostRun& run) { return sum + run.count; });
}

int count_nodes(const LogRequest& request) {
  const int each = request.version.is_before(20) ? 1 : request.hosts.hosts_per_nvl_domain;
  return count_hosts(request) / std::max(each, 1);
}

int count_ranks(const LogRequest& request) {
  return std::accumulate(request.hosts.runs.begin(), request.hosts.runs.end(), 0,
                         [](int sum, const HostRun& run) {
                           return sum + run.count * static_cast<int>(gpus_of(run.host).size());
                         });
}

int gpus_per_host(const LogRequest& request) {
  return static_cast<int>(gpus_of(request.hosts.runs.front().host).size());
}

NetworkKind network_kind(const LogRequest& request) {
  return network_of(first_host(request), request.version).kind;
}

int count_nics(const LogRequest& request) {
  return static_cast<int>(network_of(first_host(request), request.version).devices.size());
}

std::string first_nic(const LogRequest& request) {
  const HostNetwork network = network_of(first_host(request), request.version);
  return network.devices.empty() ? std::string{} : network.devices.front().name;
}

bool is_roce(const LogRequest& request) {
  const HostNetwork network = network_of(first_host(request), request.version);
  return network.kind == NetworkKind::Ib && network.devices.front().is_ethernet;
}

bool has_gdr(const LogRequest& request) {
  Host host = first_host(request);
  const std::vector<HostGpuPlace> gpus = gpu_places_of(host);
  const bool gpus_can =
      std::ranges::any_of(gpus, [](const HostGpuPlace& place) { return place.gpu->gdr; });
  const HostNetwork network = network_of(host, request.version);
  return gpus_can && network.has_gdr && network.kind != NetworkKind::Socket;
}

bool has_nvlink(const LogRequest& request) {
  Host host = first_host(request);
  return std::ranges::any_of(gpu_places_of(host),
                             [](const HostGpuPlace& place) { return !place.gpu->nvlinks.empty(); });
}

bool has_nvls(const LogRequest& request) {
  if (request.version.is_before(count_nodes(request) > 1 ? 18 : 17)) return false;
  Host host = first_host(request);
  const std::vector<HostGpuPlace> gpus = gpu_places_of(host);
  return gpus.size() > 2 && std::ranges::all_of(gpus, [](const HostGpuPlace& place) {
           return place.gpu->sm >= kHopper &&
                  std::ranges::any_of(place.gpu->nvlinks, [](const HostNvLink& link) {
                    return link.target_class == kNvSwitchClass;
                  });
         });
}

bool shares_pci_switch(const LogRequest& request) {
  const Host host = first_host(request);
  for (const HostCpu& cpu : host.cpus) {
    for (const HostPci& function : cpu.pci) {
      if (shares_switch(function.children)) return true;
    }
  }
  return false;
}

bool reaches_everywhere(const LogRequest& request) {
  const auto rules =
      load_topology_rules(nearest_release(request.version.minor, request.version.patch));
  const std::vector<HostCpu>& cpus = request.hosts.runs.front().host.cpus;
  const bool is_amd = !cpus.empty() && cpus.front().vendor == "AuthenticAMD";
  return rules && rules->p2p_reach == P2pReach::ByVendor && is_amd;
}

int struck_host(const LogRequest& request) {
  const int hosts = count_hosts(request);
  if (hosts == 1) return 0;
  return 1 + static_cast<int>(noise(request.seed, kStruck) % static_cast<std::uint64_t>(hosts - 1));
}

void edit_all_hosts(LogRequest& request, const std::function<void(Host&)>& edit) {
  for (HostRun& run : request.hosts.runs) edit(run.host);
}

void edit_host(LogRequest& request, int index, const std::function<void(Host&)>& edit) {
  std::vector<HostRun> runs;
  int first = 0;
  for (HostRun& run : request.hosts.runs) {
    const int place = index - first;
    first += run.count;
    if (place < 0 || place >= run.count) {
      runs.push_back(std::move(run));
      continue;
    }
    HostRun edited{run.host, 1};
    edit(edited.host);
    const int after = run.count - place - 1;
    if (place > 0) runs.push_back({run.host, place});
    runs.push_back(std::move(edited));
    if (after > 0) runs.push_back({std::move(run.host), after});
  }
  request.hosts.runs = std::move(runs);
}

void forget_gdr(Host& host) {
  for (const HostNetPlace& place : nets_of(host)) place.net->gdr = false;
}

void decide_by(LogRequest& request, const std::string& name, const std::string& value) {
  request.environment = [before = std::move(request.environment), name,
                         value](const char* asked) -> std::optional<std::string> {
    if (name == asked) return value;
    return before ? before(asked) : std::nullopt;
  };
}

}  // namespace ringside
