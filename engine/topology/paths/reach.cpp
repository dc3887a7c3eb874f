#include "engine/topology/paths/reach.h"

#include <algorithm>
#include <bit>

namespace ringside {
namespace {

const GpuInfo& gpu_info(const System& system, int gpu) {
  return system.gpus[static_cast<std::size_t>(gpu)];
}

/// Returns the farthest path over which GPUs copy to each other: NCCL_P2P_LEVEL, or else the release's default
/// (P2pReach).
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoCheckP2p
PathType p2p_level(const System& system, const TopologyParameters& parameters) {
  if (parameters.p2p_level) return *parameters.p2p_level;
  const CpuInfo cpu = system.cpus.empty() ? CpuInfo{} : system.cpus[0];
  const bool is_x86 = cpu.arch == CpuArch::X86;
  if (parameters.rules.p2p_reach == P2pReach::ByVendor) {
    const bool is_slow =
        is_x86 && (cpu.vendor == CpuVendor::Intel || cpu.vendor == CpuVendor::Zhaoxin);
    return is_slow || cpu.arch == CpuArch::Arm ? PathType::Pxb : PathType::Sys;
  }
  const bool is_amd = is_x86 && cpu.vendor == CpuVendor::Amd;
  return is_amd && system.count(system.silicon) <= 2 ? PathType::Sys : PathType::Pxb;
}

/// Returns the highest bandwidth from a GPU to any NIC that it reaches without crossing a CPU; 0: none.
float near_net_bandwidth(const System& system, int gpu) {
  float most = 0;
  for (int net = 0; net < system.count(NodeKind::Net); ++net) {
    const Path& path = system.path(gpu_ref(gpu), {NodeKind::Net, net});
    if (path.type <= PathType::Pxb) most = std::max(most, path.bandwidth);
  }
  return most;
}

bool has_nvlink_peer(const System& system, int gpu) {
  for (int other = 0; other < system.count(NodeKind::Gpu); ++other) {
    if (other != gpu && system.path(gpu_ref(gpu), gpu_ref(other)).type == PathType::Nvl) {
      return true;
    }
  }
  return false;
}

/// Returns the GPU that relays a PXN path: the first one on the path; -1: none.
int relay_of(const System& system, const Path& path) {
  for (const LinkId id : path.links) {
    const NodeRef to = system.link(id).to;
    if (to.kind == NodeKind::Gpu) return to.index;
  }
  return -1;
}

/// Returns the lowest log2(`size`) bits of `value` in reverse order. Consecutive GPUs then begin with NICs that are far
/// apart.
/// shape   size is a power of two
/// source  NCCL 2.30.7 graph/topo.cc: ncclTopoGetLocalNet
int mirrored(int value, int size) {
  int mirror = 0;
  for (int bit = 1, image = size >> 1; bit < size; bit <<= 1, image >>= 1) {
    if ((value & bit) != 0) mirror |= image;
  }
  return mirror;
}

/// The NICs near a GPU, and how its channels alternate among them.
struct NetChoice {
  std::vector<int> nets;
  int first = 0;    ///< index in `nets` of channel 0's NIC, modulo their number
  int per_gpu = 1;  ///< number of NICs among which the channels alternate
  /// shape  nets is not empty
  [[nodiscard]] int of_channel(int channel) const {
    return nets[static_cast<std::size_t>(first + channel % per_gpu) % nets.size()];
  }
};

/// Returns whether a GPU finds its first NIC by its number modulo the number of GPUs that share its NICs, instead of by
/// its number in the node (NicByLocalGpus).
bool counts_by_local_gpus(const System& system, int gpu, const std::vector<int>& nets,
                          const TopologyParameters& parameters) {
  const NicByLocalGpus rule = parameters.rules.nic_by_local_gpus;
  if (rule != NicByLocalGpus::ConnectX8) return rule == NicByLocalGpus::Always;
  if (parameters.scatter_start_net) return true;
  constexpr int kBlackwell = 100;  // compute capability 10.0
  return gpu_info(system, gpu).sm >= kBlackwell && std::ranges::any_of(nets, [&](int net) {
           return system.nets[static_cast<std::size_t>(net)].is_connectx8;
         });
}

NetChoice net_choice(const System& system, int gpu, const TopologyParameters& parameters) {
  NetChoice choice;
  choice.nets = local_nodes(system, gpu_ref(gpu), NodeKind::Net);
  if (choice.nets.empty()) return choice;
  const int nets = static_cast<int>(choice.nets.size());
  const int sharers = std::max(
      1,
      static_cast<int>(local_nodes(system, {NodeKind::Net, choice.nets[0]}, NodeKind::Gpu).size()));
  const int policy = parameters.netdevs_policy;
  choice.per_gpu = policy > 0   ? std::min(policy, nets)
                   : policy < 0 ? nets
                                : (nets + sharers - 1) / sharers;
  choice.first = gpu_info(system, gpu).dev;
  if (counts_by_local_gpus(system, gpu, choice.nets, parameters)) choice.first %= sharers;
  if (std::has_single_bit(static_cast<unsigned>(nets))) choice.first = mirrored(choice.first, nets);
  return choice;
}

}  // namespace

bool may_p2p(const System& system, const TopologyParameters& parameters, int a, int b) {
  return system.path(gpu_ref(a), gpu_ref(b)).type <= p2p_level(system, parameters);
}

bool prefers_network(const System& system, const TopologyParameters& parameters, int a, int b) {
  if (parameters.net_disable_intra) return false;
  const float direct = system.path(gpu_ref(a), gpu_ref(b)).bandwidth;
  return near_net_bandwidth(system, a) > direct && near_net_bandwidth(system, b) > direct;
}

bool may_connect_in_node(const System& system, const TopologyParameters& parameters, int a, int b) {
  const bool is_same_host = system.node(gpu_ref(a)).host == system.node(gpu_ref(b)).host;
  const bool is_reached =
      may_p2p(system, parameters, a, b) || (is_same_host && !parameters.shm_disable);
  return is_reached && !prefers_network(system, parameters, a, b);
}

bool may_gdr(const System& system, const TopologyParameters& parameters, int gpu, int net,
             bool is_read) {
  const GpuInfo& info = gpu_info(system, gpu);
  if (!system.nets[static_cast<std::size_t>(net)].gdr || !info.gdr) return false;
  if (info.mlopart >= 0 && !parameters.gdr_mlopart) return false;
  if (is_read) {
    if (parameters.gdr_read == false) return false;
    // Before compute capability 80, GDR reads a GPU that has an NVLink peer or is the only one.
    if (!parameters.gdr_read && (info.sm < 80 || parameters.rules.gdr_read_needs_nvlink) &&
        system.count(NodeKind::Gpu) > 1 && !has_nvlink_peer(system, gpu)) {
      return false;
    }
  }
  const NodeRef to{NodeKind::Net, net};
  const Path* path = &system.path(gpu_ref(gpu), to);
  if (path->type == PathType::Pxn) path = &system.path(gpu_ref(relay_of(system, *path)), to);
  const PathType nearest = parameters.gdr_c2c ? PathType::P2c : PathType::Pxb;
  if (parameters.rules.gdr_c2c_is_phb && parameters.gdr_c2c && path->type == PathType::Phb) {
    const int cpu = local_cpu(system, gpu, parameters.rules);
    if (cpu >= 0 && system.path(gpu_ref(gpu), {NodeKind::Cpu, cpu}).type == PathType::C2c)
      return true;
  }
  return path->type <= parameters.gdr_level.value_or(nearest);
}

int local_cpu(const System& system, int gpu, const TopologyRules& rules) {
  int best = -1;
  int fewest = 0;  // 0: no hops known yet
  for (int cpu = 0; cpu < system.count(NodeKind::Cpu); ++cpu) {
    const int hops = system.path(gpu_ref(gpu), {NodeKind::Cpu, cpu}).hops();
    // 0 hops: the GPU does not reach the CPU. Releases with this rule take such a CPU, unless a later one is reached:
    // `fewest` is then 0 again. That is NCCL's own order of comparisons, and is kept.
    if (hops == 0 && !rules.farthest_cpu_may_be_local) continue;
    if (fewest != 0 && hops >= fewest) continue;
    best = cpu;
    fewest = hops;
  }
  return best;
}

std::vector<int> local_nodes(const System& system, NodeRef from, NodeKind to) {
  std::vector<int> nodes;
  PathType closest = PathType::Dis;
  float most = 0;
  for (int i = 0; i < system.count(to); ++i) {
    const Path& path = system.path(from, {to, i});
    if (path.bandwidth > most || (path.bandwidth == most && path.type < closest)) {
      most = path.bandwidth;
      closest = path.type;
      nodes.clear();
    }
    if (path.bandwidth == most && path.type == closest) nodes.push_back(i);
  }
  return nodes;
}

int local_net(const System& system, int gpu, int channel, const TopologyParameters& parameters) {
  const NetChoice choice = net_choice(system, gpu, parameters);
  return choice.nets.empty() ? -1 : choice.of_channel(channel);
}

int local_gpu(const System& system, int net, const TopologyParameters& parameters) {
  std::vector<int> gpus;
  if (parameters.rules.any_gpu_may_be_local) {
    for (int gpu = 0; gpu < system.count(NodeKind::Gpu); ++gpu) gpus.push_back(gpu);
  } else {
    gpus = local_nodes(system, {NodeKind::Net, net}, NodeKind::Gpu);
  }
  std::vector<NetChoice> choices;
  choices.reserve(gpus.size());
  for (const int gpu : gpus) choices.push_back(net_choice(system, gpu, parameters));
  for (int channel = 0; channel < parameters.rules.max_channels; ++channel) {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      if (!choices[i].nets.empty() && choices[i].of_channel(channel) == net) return gpus[i];
    }
  }
  return -1;
}

}  // namespace ringside
