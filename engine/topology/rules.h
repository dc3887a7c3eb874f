#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/releases/releases.h"

namespace ringside {

/// How a release treats a chip-to-chip link between a GPU and its CPU.
enum class C2cLink : std::uint8_t {
  Unknown,  ///< not there
  NvLink,   ///< one more NVLink
  Own,      ///< a separate kind of link
};

/// Which NICs at the CPU of a GPU with C2C count as closer than NICs behind another CPU.
enum class P2cNets : std::uint8_t { None, All, Local };

/// Up to which distance GPUs copy to each other by default.
enum class P2pReach : std::uint8_t {
  ByVendor,  ///< below the CPU on Intel, Zhaoxin and Arm hosts, everywhere on others
  BySize,    ///< below the CPU, but for two GPUs on an AMD host
};

/// Which GPUs use their number modulo the number of GPUs that share their NICs, to find the first NIC of a channel.
enum class NicByLocalGpus : std::uint8_t {
  Never,
  ConnectX8,  ///< GPUs from compute capability 100 on with a close ConnectX-8; NCCL_TOPO_SCATTER_START_NET=1: all
  Always,
};

/// GB/s of one NVLink, one direction, by the GPU's compute capability.
struct NvLinkSpeeds {
  float pascal = 18, volta = 20, ampere = 20, ampere_86 = 12, hopper = 20.6F, blackwell = 40.1F,
        other = 20;
  friend bool operator==(const NvLinkSpeeds&, const NvLinkSpeeds&) = default;
};

/// The rules by which a release of NCCL interprets a host. The defaults are those of 2.30.7; the differences of an
/// older release are in its file, under `topology`. A bool is true if the release behaves as its comment says.
/// source  NCCL 2.18 .. 2.30: graph/topo.{h,cc}, graph/paths.cc, graph/search.cc
struct TopologyRules {
  NvLinkSpeeds nvlink = {};
  /// By CPU generation; a generation beyond the list counts as the last one. One AMD entry: NCCL does not
  /// distinguish AMD's generations.
  std::vector<float> amd_socket_gbs{16};
  std::vector<float> intel_socket_gbs{6, 10, 22, 40};
  /// CPUID models below Emerald Rapids that have its link: Granite Rapids, Sierra Forest.
  std::vector<int> intel_emerald_models{};

  int max_channels = 64;             ///< channels for which the NICs of a GPU are listed
  bool gpu_has_device = true;        ///< links belong to a separate vertex, the silicon
  bool gpu_links_to_itself = false;  ///< a GPU has a link of type LOC to itself
  C2cLink c2c_link = C2cLink::Own;
  /// The two levels of a Broadcom PCI switch of the fifth generation count as one switch, as those of the fourth
  bool joins_gen5_switches = true;
  bool reverse_is_of_any_kind = false;  ///< the opposite direction of a link may have another kind
  bool paths_grow_by_hops = false;      ///< a wider path replaces a path unless it has more hops
  bool missing_paths_are_near = false;  ///< missing paths have type LOC instead of DIS
  bool missing_peers_are_near = false;  ///< the same for vertices of one kind
  /// A CPU that the GPU does not reach may be its local one, unless it reaches a later one
  bool farthest_cpu_may_be_local = false;

  P2pReach p2p_reach = P2pReach::BySize;
  P2cNets p2c_nets = P2cNets::Local;
  bool gdr_c2c = true;          ///< NICs behind C2C may reach the GPU's memory; NCCL_NET_GDR_C2C
  bool gdr_c2c_is_phb = false;  ///< the variable applies to all NICs at a CPU with C2C
  /// GPUs from compute capability 80 on, too, read by GPUDirect only with an NVLink peer or if they are alone
  bool gdr_read_needs_nvlink = false;
  /// Without GPUDirect, paths to NICs beyond the PCI switches (PHB, SYS), too, are led through the GPU's CPU
  bool gdr_diverts_far_nics = false;
  bool pxn_c2c = true;            ///< a relay may reach its NIC by C2C; NCCL_PXN_C2C
  bool pxn_needs_gdr = true;      ///< the relay must read by GPUDirect
  bool pxn_stays_on_host = true;  ///< the relay is a GPU of the same host
  bool pxn_before_p2c = false;    ///< a relay is used even if the GPU's own path is P2C or PXN
  bool nets_are_dropped = false;  ///< NICs are removed from a node that is the whole job
  NicByLocalGpus nic_by_local_gpus = NicByLocalGpus::Always;
  /// Maximum number of network devices in a virtual one; 1: none are combined
  int merged_nets = 8;
  bool any_gpu_may_be_local = false;  ///< a NIC serves the first GPU that picks it, at any distance
  /// System::total_bandwidth of a job of one GPU is kLocalBandwidth; else 0
  bool lone_gpu_has_bandwidth = true;

  friend bool operator==(const TopologyRules&, const TopologyRules&) = default;
};

/// version  as load_release()
/// errors   as load_release(). Corrupt: an unknown key
Result<TopologyRules> load_topology_rules(std::string_view version);

}  // namespace ringside
