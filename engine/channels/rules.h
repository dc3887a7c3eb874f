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
enum class NvlsChannels : std::uint8_t {
  Fixed,         ///< 16
  ByCapability,  ///< 32 from compute capability 100 on, else 16
  ByNodes,       ///< from 100 on 24 within a node and 32 across nodes, else 16
  ByNics,        ///< the same, but across nodes by the node's size and NICs
};

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
  bool has_c2c_paths = true;  ///< C2C is a path type to try
  bool has_p2c_paths = true;  ///< so is P2C
  /// The first and last path type to try are those of the node's paths. Else the first is NVL between GPUs (LOC for a
  /// single GPU) and PIX to NICs, the last SYS
  bool types_are_those_of_paths = true;
  /// Below capability 90, SYS is the last path type to NICs that is tried
  bool old_gpus_reach_all_nics = true;
  bool types_end_before_dis = true;  ///< path type DIS is never tried
  /// On AMD CPUs the rule of equal channels is dropped even at SYS
  bool amd_shares_orders = false;
  /// NCCL_CROSS_NIC=1 applies only to the first round of tries
  bool cross_nic_is_first_only = false;
  CrossNic cross_nic = CrossNic::PairedRings;
  float cross_nic_penalty = 0;  ///< fraction by which a solution with crossing NICs must be better
  /// With an NVSwitch, too, the first channel from a NIC is first tried in the order of the GPUs' indices
  bool warms_up_over_switch = false;
  bool starts_within_total = true;   ///< at a speed that all channels may have together
  bool lone_gpu_is_endless = false;  ///< a tree of one GPU has unlimited bandwidth
  NvlsHeads nvls_heads = NvlsHeads::UpTo32;
  NvlsHead nvls_head = NvlsHead::EachOnce;
  /// The bandwidth of a NIC whose GPU is already a head stays reserved
  bool repeated_heads_keep_nics = false;
  /// A solution with more NVLS channels is better, whatever their speed
  bool nvls_counts_channels_only = false;
  /// Maximum heads of CollNetDirect; 0: it has no graph of its own; -1: all GPUs
  int most_direct_heads = 8;
  /// A ring has 2 channels or more if NVLink joins the GPUs to two groups that it does not join with each other
  bool two_islands_need_two = true;
  bool improves_first = false;  ///< higher speeds are tried before channels are doubled; else after
  bool improves_rings = true;   ///< higher speeds are tried for rings
  bool improves_nvls_inter = true;  ///< for NVLS, the speed to NICs is raised separately
  SwitchNext switch_next = SwitchNext::Only;
  bool missing_ways_are_free = false;   ///< a path without links may be used, whatever its type
  bool disconnected_is_refused = true;  ///< a path of type DIS is not used
  bool nvlink_to_cpu_costs_both_ways = false;  ///< to any CPU, not POWER's alone
  bool starts_at_own_nic = true;               ///< channel c at NIC c; else all at the first
  StartGpu start_gpu = StartGpu::Own;
  /// The order of the preceding channel is tried first, even where orders may differ
  bool replays_first = false;
  bool interleaves_nics = true;  ///< alternates the NICs of several hosts
  /// Without a solution, a channel uses the NICs of the first and last GPU; else NIC 0
  bool falls_back_to_nics = true;
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
  /// Least and greatest compute capability are those of rank 0's node instead of all nodes
  bool capability_is_own = false;
  bool large_nodes_have_collnet = true;   ///< nodes with more than 8 ranks can use CollNet
  int nvls_min_gpus = 2;                  ///< GPUs that a node needs for NVLS
  bool nvls_joins_ring_channels = false;  ///< across nodes no more heads than there are rings
  NvlsChannels nvls_channels = NvlsChannels::ByNics;
  /// Sends within a node have the chunks of NVLink if one pair of GPUs is joined by NVLink; else all must be
  bool one_nvlink_pair_is_enough = false;
  /// On Arm hosts with GPUs from compute capability 100 on, sends to other nodes have chunks of 256 KiB
  bool grace_steps_are_long = true;
  bool lone_gpu_is_direct = true;  ///< counts as one whose pairs all use P2P
  NetPeerChannels net_peer_channels = NetPeerChannels::ByRate;
  /// A peer through another GPU has channels by the bandwidth of its path, as one over NVLink
  bool nvb_counts_links = true;
  bool per_peer_is_bounded = true;    ///< a peer has at most all point-to-point channels
  bool net_speed_is_of_wire = false;  ///< the least of a job's NICs; else of the way to the GPU
  /// Point-to-point channels and chunks follow from rank 0's node alone; else from all nodes
  bool p2p_counts_rank_0 = false;
  bool p2p_steps_fit_buffer = true;  ///< a chunk of a send is at most a slot of the Simple buffer
  int arm_simple_buffer = 4194304;   ///< bytes
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
