#include "engine/channels/report.h"

#include <algorithm>
#include <limits>

#include "engine/channels/attempt.h"
#include "engine/channels/net_candidates.h"
#include "engine/channels/search.h"
#include "engine/topology/paths/reach.h"

namespace ringside {
namespace {

constexpr int kMulticastFrom = 90;  ///< compute capability that has NVLink multicast
/// Channels to a peer of the node that NVLink does not reach.
/// source  NCCL graph/paths.cc: ncclTopoGetNchannels
constexpr int kChannelsToLocal = 2;
/// Channels to a peer on another node, for a GPU without a NIC.
/// source  NCCL graph/paths.cc: ncclTopoGetNchannels
constexpr int kChannelsWithoutNic = 2;

bool has_nvls(const System& system, const ChannelParameters& channels) {
  if (channels.nvls_enable == 0 ||
      system.count(NodeKind::Gpu) < channels.rules.counts.nvls_min_gpus) {
    return false;
  }
  return channels.nvls_enable == 1 ||
         std::all_of(system.gpus.begin(), system.gpus.end(),
                     [](const GpuInfo& gpu) { return gpu.sm >= kMulticastFrom; });
}

/// The NICs that a GPU uses alternately: as many as are needed to fill its path to the host.
struct NetsOfGpu {
  int count = 0;
  float total = 0, narrowest = 0;  ///< GB/s
};
NetsOfGpu nets_of(const System& system, int gpu, const std::vector<int>& picks) {
  float host = 0;
  for (int cpu = 0; cpu < system.count(NodeKind::Cpu); ++cpu) {
    host = std::max(host, system.path(gpu_ref(gpu), {NodeKind::Cpu, cpu}).bandwidth);
  }
  NetsOfGpu nets;
  nets.narrowest = std::numeric_limits<float>::max();
  for (const int net : picks) {
    const float speed = system.path(gpu_ref(gpu), {NodeKind::Net, net}).bandwidth;
    nets.narrowest = std::min(nets.narrowest, speed);
    if (nets.total >= host) continue;
    nets.total += speed;
    ++nets.count;
  }
  if (picks.empty()) nets.narrowest = 0;
  return nets;
}

int channels_to_peer(const System& system, int gpu, int peer, const TopologyRules& topology,
                     const CountRules& rules) {
  const Path& path = system.path(gpu_ref(peer), gpu_ref(gpu));
  const bool is_nvb = path.type == PathType::Nvb && rules.nvb_counts_links;
  if (path.type != PathType::Nvl && !is_nvb) return kChannelsToLocal;
  const float link =
      nvlink_bandwidth(system.gpus[static_cast<std::size_t>(gpu)].sm, topology.nvlink);
  return 2 * std::max(1, static_cast<int>(path.bandwidth / link));
}

/// Returns how many NICs fill the GPU's link to its CPU; 0 if the GPU is attached to a switch.
/// source  NCCL 2.20 .. 2.28 graph/paths.cc: getLocalNetCountByBw
int nets_for_cpu_link(const System& system, int gpu) {
  float link_speed = 0;
  for (const LinkId id : system.node(system.silicon_of(gpu)).links) {
    const Link& link = system.link(id);
    if (link.to.kind == NodeKind::Cpu) link_speed = link.bandwidth;
  }
  int count = 0;
  float total = 0;
  for (const int net : local_nodes(system, gpu_ref(gpu), NodeKind::Net)) {
    if (total >= link_speed) break;
    total += system.path(gpu_ref(gpu), {NodeKind::Net, net}).bandwidth;
    ++count;
  }
  return count;
}

int channels_to_network(const NetsOfGpu& nets, const ChannelParameters& channels) {
  if (channels.channels_per_net_peer) return *channels.channels_per_net_peer;
  if (nets.count == 0) return kChannelsWithoutNic;
  const int each = channels.p2p_channel_net_bw;
  return std::max(nets.count, (static_cast<int>(nets.total) + each - 1) / each);
}

/// Returns the smallest bandwidth of all NICs; 0 if there is no NIC, or only one rank.
/// source  NCCL 2.29 init.cc
float narrowest_wire(const System& system) {
  const bool is_alone = !system.is_inter && system.count(NodeKind::Gpu) == 1;
  if (is_alone || system.nets.empty()) return 0;
  return std::ranges::min(system.nets, {}, &NetInfo::bandwidth).bandwidth;
}

void report_network(NodeReport& report, const System& system, const TopologyParameters& topology,
                    const ChannelParameters& channels) {
  const NetCandidates candidates{system, topology, channels};
  report.net_count = std::numeric_limits<int>::max();
  report.min_net_bw = std::numeric_limits<float>::max();
  report.p2p_channels_per_peer = Attempt::kMaxChannels;
  if (channels.rules.counts.net_speed_is_of_wire) {
    report.min_net_bw = narrowest_wire(system);
  }
  for (int gpu = 0; gpu < report.nranks; ++gpu) {
    const NetsOfGpu nets = nets_of(system, gpu, candidates.picks_of(gpu));
    const bool fills_link = channels.rules.counts.net_peer_channels == NetPeerChannels::ByNics;
    report.net_count =
        std::min(report.net_count, fills_link ? nets_for_cpu_link(system, gpu) : nets.count);
    if (!channels.rules.counts.net_speed_is_of_wire) {
      report.min_net_bw = std::min(report.min_net_bw, nets.narrowest);
    }
    int& fewest = report.p2p_channels_per_peer;
    for (int peer = 0; peer < report.nranks; ++peer) {
      if (peer != gpu)
        fewest = std::min(
            fewest, channels_to_peer(system, gpu, peer, topology.rules, channels.rules.counts));
    }
    const bool goes_by_rate = channels.rules.counts.net_peer_channels == NetPeerChannels::ByRate;
    if (system.is_inter && goes_by_rate)
      fewest = std::min(fewest, channels_to_network(nets, channels));
  }
}

}  // namespace

NodeReport report_on(const System& system, const TopologyParameters& topology,
                     const ChannelParameters& channels, const Graphs& given) {
  NodeReport report;
  report.graphs = search_graphs(system, topology, channels, has_nvls(system, channels), given);
  report.nranks = system.count(NodeKind::Gpu);
  const auto [least, most] =
      std::minmax_element(system.gpus.begin(), system.gpus.end(),
                          [](const GpuInfo& a, const GpuInfo& b) { return a.sm < b.sm; });
  report.min_cc = least->sm;
  report.max_cc = most->sm;
  if (!system.cpus.empty()) {
    report.cpu_arch = system.cpus.front().arch;
    report.cpu_vendor = system.cpus.front().vendor;
  }
  report.has_nvswitch = system.count(NodeKind::Nvs) > 0;
  report.is_all_direct_p2p = report.nranks > 1 || channels.rules.counts.lone_gpu_is_direct;
  bool is_any_nvlink = false;
  bool is_any_other = false;
  for (int gpu = 0; gpu < report.nranks; ++gpu) {
    for (int peer = 0; peer < report.nranks; ++peer) {
      if (peer == gpu) continue;
      const PathType type = system.path(gpu_ref(gpu), gpu_ref(peer)).type;
      (type >= PathType::Pix ? is_any_other : is_any_nvlink) = true;
      if (type == PathType::Nvb || !may_p2p(system, topology, gpu, peer)) {
        report.is_all_direct_p2p = false;
      }
    }
  }
  report.is_all_nvlink =
      channels.rules.counts.one_nvlink_pair_is_enough ? is_any_nvlink : !is_any_other;
  report_network(report, system, topology, channels);
  return report;
}

}  // namespace ringside
