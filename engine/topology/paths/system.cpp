#include "engine/topology/paths/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/topology/paths/build_system.h"
#include "engine/topology/paths/paths.h"
#include "engine/topology/sources/nccl_xml.h"

namespace ringside {
namespace {

/// [GPU]: the lowest GPU of its group.
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoTrimSystem
std::vector<int> gpu_groups(const System& system) {
  const int count = system.count(NodeKind::Gpu);
  std::vector<int> group(static_cast<std::size_t>(count));
  for (int gpu = 0; gpu < count; ++gpu) {
    int lowest = gpu;
    for (int peer = 0; peer < gpu; ++peer) {
      if (system.path({NodeKind::Gpu, gpu}, {NodeKind::Gpu, peer}).type < PathType::Net) {
        lowest = std::min(lowest, group[static_cast<std::size_t>(peer)]);
      }
    }
    group[static_cast<std::size_t>(gpu)] = lowest;
  }
  return group;
}

/// source  NCCL 2.30.7 graph/search.cc: ncclTopoSearchInit
void measure(System& system, const TopologyRules& rules) {
  if (!system.is_inter && system.count(NodeKind::Gpu) == 1) {
    system.max_bandwidth = kLocalBandwidth;
    if (rules.lone_gpu_has_bandwidth) system.total_bandwidth = kLocalBandwidth;
    return;
  }
  const NodeKind far = system.is_inter ? NodeKind::Net : system.silicon;
  for (int gpu = 0; gpu < system.count(NodeKind::Gpu); ++gpu) {
    const NodeRef device = system.silicon_of(gpu);
    for (int i = 0; i < system.count(far); ++i) {
      const Path& path = system.path(device, {far, i});
      if (path.hops() > 0) system.max_bandwidth = std::max(system.max_bandwidth, path.bandwidth);
    }
    float pci = 0;
    float nvlink = 0;
    for (const LinkId id : system.node(device).links) {
      const Link& link = system.link(id);
      if (link.kind == LinkKind::Pci) pci = link.bandwidth;
      if (link.kind == LinkKind::Nvl) nvlink += link.bandwidth;
    }
    system.total_bandwidth = std::max({system.total_bandwidth, pci, nvlink});
  }
}

Status check(std::span<const Host* const> hosts) {
  std::size_t gpus = 0;
  for (const Host* host : hosts) {
    const std::size_t own = gpus_of(*host).size();
    gpus += own;
    if (own > 0) continue;
    return Error{ErrorCode::InvalidArgument, fmt::format("{}: no GPU has a rank", host->name),
                 "a host takes part with at least one"};
  }
  if (gpus >= 1 && gpus <= kMaxGpusPerHost) return {};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("{} GPUs in one NVLink domain of {} hosts", gpus, hosts.size()),
               fmt::format("a domain holds 1 to {} GPUs", kMaxGpusPerHost)};
}

/// Returns the part of a system that one group of GPUs sees.
Result<System> part_of(const System& whole, const std::vector<int>& groups, int group,
                       const TopologyParameters& parameters) {
  std::vector<bool> keep;
  keep.reserve(groups.size());
  for (const int of_gpu : groups) keep.push_back(of_gpu == group);
  System part = without(whole, NodeKind::Gpu, keep);
  RINGSIDE_TRY(find_paths(part, parameters));
  adjust_paths(part, parameters);
  return part;
}

/// Removes the NICs if the node is the whole job and so does not need them.
/// source  NCCL 2.18 .. 2.28.3 graph/paths.cc: ncclTopoTrimSystem
Status drop_nets(System& system, const TopologyParameters& parameters) {
  const auto nets = static_cast<std::size_t>(system.count(NodeKind::Net));
  system = without(system, NodeKind::Net, std::vector<bool>(nets, false));
  RINGSIDE_TRY(find_paths(system, parameters));
  adjust_paths(system, parameters);
  return {};
}

Result<std::vector<System>> make_domain(std::span<const Host* const> hosts, int first_rank,
                                        int nranks, const TopologyParameters& parameters) {
  RINGSIDE_TRY(check(hosts));
  std::vector<Host> views;
  views.reserve(hosts.size());
  for (const Host* host : hosts) views.push_back(joined_view(*host));
  RINGSIDE_TRY(System whole, build_graph(views, first_rank, parameters.rules));
  RINGSIDE_TRY(find_paths(whole, parameters));
  adjust_paths(whole, parameters);

  const std::vector<int> groups = gpu_groups(whole);
  const std::set<int> distinct(groups.begin(), groups.end());
  std::vector<System> systems;
  if (distinct.size() == 1) {
    systems.push_back(std::move(whole));
  } else {
    for (const int group : distinct) {
      RINGSIDE_TRY(System part, part_of(whole, groups, group, parameters));
      systems.push_back(std::move(part));
    }
  }
  for (System& system : systems) {
    if (parameters.rules.nets_are_dropped) {
      if (system.count(NodeKind::Gpu) == nranks) {
        RINGSIDE_TRY(drop_nets(system, parameters));
      }
      system.is_inter = system.count(NodeKind::Net) > 0;
    } else {
      system.is_inter = system.count(NodeKind::Gpu) != nranks;
    }
    measure(system, parameters.rules);
  }
  return systems;
}

int lowest_rank(const System& system) {
  return std::min_element(system.gpus.begin(), system.gpus.end(),
                          [](const GpuInfo& a, const GpuInfo& b) { return a.rank < b.rank; })
      ->rank;
}

}  // namespace

const char* to_string(LinkKind kind) {
  switch (kind) {
    case LinkKind::Loc:
      return "LOC";
    case LinkKind::Nvl:
      return "NVL";
    case LinkKind::C2c:
      return "C2C";
    case LinkKind::Pci:
      return "PCI";
    case LinkKind::Sys:
      return "SYS";
    case LinkKind::Net:
      return "NET";
  }
  return "";
}

Result<std::vector<System>> make_systems(const SystemRequest& request,
                                         const TopologyParameters& parameters) {
  // NVLink across hosts is off if the environment disables it, or disables all P2P.
  const bool is_joined = parameters.mnnvl_enable == 1 ||
                         (parameters.mnnvl_enable != 0 && parameters.p2p_level != PathType::Loc);
  const std::size_t together = is_joined ? request.hosts.size() : 1;
  std::vector<System> systems;
  int rank = request.first_rank;
  for (std::size_t first = 0; first < request.hosts.size(); first += together) {
    const auto domain = request.hosts.subspan(first, together);
    RINGSIDE_TRY(std::vector<System> parts, make_domain(domain, rank, request.nranks, parameters));
    for (System& part : parts) {
      rank += part.count(NodeKind::Gpu);
      systems.push_back(std::move(part));
    }
  }
  std::stable_sort(systems.begin(), systems.end(), [](const System& a, const System& b) {
    return lowest_rank(a) < lowest_rank(b);
  });
  return systems;
}

}  // namespace ringside
