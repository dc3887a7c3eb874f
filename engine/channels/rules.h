#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/releases/releases.h"

namespace ringside {

/// The speeds of a channel that a search tries, fastest first.  unit  GB/s
struct SpeedLadders {
  /// [before 90, 90, 100 and above]: compute capability, 10 x major + minor
  std::array<std::vector<float>, 3> intra{{{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3},
                                           {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3},
                                           {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18}}};
  std::array<std::vector<float>, 3> inter{
      {{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4F, 1.2F, 0.24F, 0.12F},
       {48, 45, 42, 40, 30, 24, 22, 20, 17.5F, 15, 12, 6, 3, 2.4F, 1.2F, 0.24F, 0.12F},
       {96, 86,    80, 48, 45.1F, 42, 40,   30,   24,    22,
        20, 17.5F, 15, 12, 6,     3,  2.4F, 1.2F, 0.24F, 0.12F}}};
  friend bool operator==(const SpeedLadders&, const SpeedLadders&) = default;

  /// sm        the least compute capability of the node
  /// is_inter  the job spans several nodes
  [[nodiscard]] std::span<const float> of(int sm, bool is_inter) const {
    const std::size_t row = sm >= 100 ? 2 : sm >= 90 ? 1 : 0;
    return is_inter ? inter[row] : intra[row];
  }
};

/// Which GPUs a search tries next if an NVSwitch connects all.
enum class SwitchNext : std::uint8_t {
  Any,         ///< as without a switch
  Neighbours,  ///< its neighbours by index first
  Only,        ///< only its neighbours
};

/// By which GPU a channel from a NIC enters the node.
enum class StartGpu : std::uint8_t {
  Widest,  ///< a GPU with the highest bandwidth and fewest hops, starting at the channel's number
  FirstWidest,  ///< the same, those with a PCI link first, beginning at the first
  Nearest,      ///< a GPU with the highest bandwidth, and among those the closest path type
  Own,          ///< the one that the NIC serves, then the nearest
};

/// Which GPU is the head of an NVLS channel from a NIC.
enum class NvlsHead : std::uint8_t {
  /// The GPU of the NIC with the channel's number; the path from the NIC takes no bandwidth
  ByNumber,
  ByChannel,  ///< the same, but the path from the NIC takes bandwidth
  EachOnce,   ///< the next NIC whose GPU is not a head yet
};

/// The largest number of heads of NVLS channels.
enum class NvlsHeads : std::uint8_t { All, Gpus, UpTo32 };

/// How a search treats crossing NICs if NCCL_CROSS_NIC is 2.
enum class CrossNic : std::uint8_t {
  Free,         ///< any two NICs; trees as well
  Paired,       ///< odd channels reverse the NICs of the preceding even channel; also for trees
  PairedRings,  ///< the same, only for rings
};

/// When channels on Hopper GPUs are doubled again.
enum class HopperDoubling : std::uint8_t {
  WhereTheyFit,  ///< Hopper alone, while twice the channels are no more than there may be
  Below16,       ///< Hopper alone, with fewer than 16
  FromHopper,    ///< with fewer than 16, on later GPUs, too
};

/// Which odd nodes use the neighbouring ring's order of GPUs.
enum class RingSwap : std::uint8_t {
  Never,
  EvenNodes,  ///< all, where the node's own search crossed NICs, of an even number of nodes
  Crossing,   ///< all, where some search crossed NICs
  Alternate,  ///< all, where some search found alternating NICs
  PerNode,    ///< the nodes whose own search crossed NICs
};

/// How the number of NVLS channels is chosen without a setting.
enum class NvlsChannels : std::uint8_t { Fixed, ByCapability, ByNodes, ByNics };

/// How many channels a point-to-point operation has to a peer on another node.
enum class NetPeerChannels : std::uint8_t {
  Two,     ///< NCCL_NCHANNELS_PER_NET_PEER
  ByNics,  ///< that, or the number of NICs that saturate the GPU's path to its CPU
  ByRate,  ///< enough for the total rate of the NICs that saturate the GPU's path to its CPU
};

/// The rules by which a release of NCCL searches channels. The defaults are those of 2.30.7; the differences of an
/// older release are in its file, under `search` and `channels`. A bool is true if the release behaves as its comment
/// says.
/// source  NCCL 2.18 .. 2.30: graph/search.cc, graph/connect.cc, graph/paths.cc, init.cc, transport/nvls.cc
struct SearchRules {
  SpeedLadders ladders = {};
  int max_channels = 64;      ///< MAXCHANNELS
  int most_steps = 1 << 19;   ///< limit of steps for all walks of a search
  bool has_c2c_paths = true;  ///< C2C is one of the path types that are tried
  bool has_p2c_paths = true;  ///< P2C is one, too
  /// The first and the last path type that are tried are the nearest and the farthest of the node; else the first is
  /// NVL between GPUs (LOC with one GPU) and PIX to NICs, and the last SYS
  bool types_are_those_of_paths = true;
  /// Below capability 90, SYS is the last path type to NICs that is tried
  bool old_gpus_reach_all_nics = true;
  bool types_end_before_dis = true;  ///< DIS, the type of missing paths, is not tried
  /// On AMD CPUs the rule of equal channels is dropped even at SYS
  bool amd_shares_orders = false;
  /// NCCL_CROSS_NIC=1 applies only to the first round of tries
  bool cross_nic_is_first_only = false;
  CrossNic cross_nic = CrossNic::PairedRings;
  float cross_nic_penalty = 0;  ///< fraction by which a solution with crossing NICs must be better
  bool warms_up_over_switch = false;  ///< the GPUs are first tried by index on NVSwitch hosts, too
  bool starts_within_total = true;    ///< the first speed is one that all channels can have at once
  bool lone_gpu_is_endless = false;   ///< a tree of one GPU has unlimited bandwidth
  NvlsHeads nvls_heads = NvlsHeads::UpTo32;
  NvlsHead nvls_head = NvlsHead::EachOnce;
  /// The bandwidth of a NIC whose GPU is already a head stays reserved
  bool repeated_heads_keep_nics = false;
  /// A solution with more NVLS channels is better, whatever their speed
  bool nvls_counts_channels_only = false;
  /// Maximum heads of CollNetDirect; 0: it has no graph of its own; -1: all GPUs
  int most_direct_heads = 8;
  /// If NVLink joins the GPUs in two separate groups, there are at least two rings
  bool two_islands_need_two = true;
  bool improves_first = false;  ///< higher speeds are tried before channels are doubled, not after
  bool improves_rings = true;   ///< higher speeds are tried for rings, too
  bool improves_nvls_inter = true;  ///< the speed between nodes is raised for NVLS, too
  SwitchNext switch_next = SwitchNext::Only;
  bool missing_ways_are_free = false;   ///< a channel may contain GPUs without a path between them
  bool disconnected_is_refused = true;  ///< a channel contains no path of type DIS
  /// A channel takes bandwidth in both directions of an NVLink to any CPU; else only to POWER
  bool nvlink_to_cpu_costs_both_ways = false;
  /// Channel c tries NIC c first; else each tries the first NIC first
  bool starts_at_own_nic = true;
  StartGpu start_gpu = StartGpu::Own;
  bool replays_first = false;      ///< the previous channel's GPUs are tried first in any case
  bool interleaves_nics = true;    ///< alternates the NICs of several hosts
  bool falls_back_to_nics = true;  ///< without a solution, the GPUs' own NICs are used; else NIC 0
  friend bool operator==(const SearchRules&, const SearchRules&) = default;
};

/// The rules for counting channels after the search.
struct CountRules {
  int max_channels = 64;
  HopperDoubling hopper_doubling = HopperDoubling::FromHopper;
  bool raises_to_nvls = false;  ///< rings and trees get at least as many channels as NVLS
  RingSwap ring_swap = RingSwap::PerNode;
  /// cross_nic is that of rank 0's node instead of the maximum over all nodes
  bool cross_nic_is_own = false;
  /// Compute capabilities are those of rank 0's node instead of the extremes of all nodes
  bool capability_is_own = false;
  bool large_nodes_have_collnet = true;  ///< nodes with more than 8 ranks can use CollNet
  int nvls_min_gpus = 2;
  /// Across nodes NVLS has at most as many heads as there are rings
  bool nvls_joins_ring_channels = false;
  NvlsChannels nvls_channels = NvlsChannels::ByNics;
  /// Point-to-point steps have the size for NVLink if it connects some GPUs; else if it connects all
  bool one_nvlink_pair_is_enough = false;
  bool grace_steps_are_long = true;  ///< point-to-point steps between nodes are longer on Grace
  bool lone_gpu_is_direct = true;    ///< a node with one GPU counts as one whose pairs all use P2P
  NetPeerChannels net_peer_channels = NetPeerChannels::ByRate;
  /// A peer through another GPU has channels by links, as over NVLink
  bool nvb_counts_links = true;
  bool per_peer_is_bounded = true;  ///< a peer has at most as many channels as there are
  /// A NIC's speed is that of its port; else that of the path between it and the GPU
  bool net_speed_is_of_wire = false;
  /// Point-to-point channels are counted for rank 0's node instead of for all nodes
  bool p2p_counts_rank_0 = false;
  /// A point-to-point step is at most one slot of Simple's buffer
  bool p2p_steps_fit_buffer = true;
  int arm_simple_buffer = 4194304;  ///< size of Simple's buffer on Arm, bytes
  friend bool operator==(const CountRules&, const CountRules&) = default;
};

/// All rules of a release about channels.
struct ChannelRules {
  SearchRules search = {};
  CountRules counts = {};
  friend bool operator==(const ChannelRules&, const ChannelRules&) = default;
};

/// Loads the rules of a release.
/// version  as load_release()
/// errors   as load_release(). Corrupt: an unknown key
Result<ChannelRules> load_channel_rules(std::string_view version);

}  // namespace ringside
