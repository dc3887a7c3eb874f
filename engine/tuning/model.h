#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/vocabulary.h"
#include "engine/releases/releases.h"
#include "engine/tuning/parameters.h"

namespace ringside {

/// GPU class: the row of the bandwidth tables, chosen by the lowest compute capability of a job.
enum class GpuClass : std::uint8_t { Volta = 0, Ampere = 1, Hopper = 2, Blackwell = 3 };
inline constexpr int kGpuClasses = 4;

/// Returns the class of a compute capability.
/// capability  10 x major + minor
GpuClass class_of_gpu(int capability);

/// The type of link that a step crosses: NVLink or else PCI within a node, the network between nodes.
enum class StepLink : std::uint8_t { NvLink = 0, Pci = 1, Net = 2 };
inline constexpr int kStepLinks = 3;

/// How the intra-node and inter-node bandwidths of NVLS are combined.
enum class NvlsSpeed : std::uint8_t {
  Efficiency,  ///< the intra-node bandwidth times the switch's efficiency; the lower of the two
  Narrower,    ///< the lower of the two; NVLSTree halves the inter-node one on more than two nodes
  ByNodes,     ///< intra-node up to two nodes, inter-node on more
};

/// How a version falls back to the ring when NCCL_ALGO leaves no algorithm.
enum class RingFallback : std::uint8_t {
  None,      ///< no fallback: an error
  Always,    ///< not needed: NCCL_ALGO cannot disable rings, except for all-reduce
  Protocol,  ///< the ring's fastest protocol that NCCL_PROTO allows
  Any,       ///< the ring's fastest protocol, even if NCCL_PROTO forbids it
};

/// Which algorithms get a tree's network latency when every node has one rank.
enum class LoneRankLatency : std::uint8_t { None, All, Ring };

/// How the bytes of a launch are distributed to channels.
enum class Scheduler : std::uint8_t {
  Loops,  ///< each collective uses all its channels, loop after loop
  Bytes,  ///< channels are filled one after the other up to the same number of bytes
  /// As Bytes, but in cells (units of elements) of equal traffic, with a first, middle and last share
  Cells,
};

/// The kind and the constants of a version's scheduler.
struct SchedulerModel {
  Scheduler kind = Scheduler::Cells;
  /// Smallest traffic that a collective counts as, and the traffic of a cell; bytes
  int traffic_floor = 0;
  /// A channel's share is at least traffic_floor, and is not rounded
  bool share_has_floor = false;
  bool is_plain = false;  ///< cells have 16 bytes, and a collective's traffic has no minimum
  int ll_traffic = 1;     ///< factor by which the bytes of LL are multiplied
};

/// The constants and rules by which one version of NCCL predicts a time, from data/nccl-<version>.yaml, which gives the
/// unit and source of each. A bool is true if the version behaves as its comment says. N is the number of nodes.
/// unit  latencies us, bandwidths GB/s = 1e9 bytes/s; double precision, as NCCL's constants are
struct TuningModel {
  using PerProtocol = std::array<double, kProtocols>;
  using PerAlgorithm = std::array<PerProtocol, kAlgorithms>;
  /// [GPU class][0: one node, 1: two, 2: more]
  using PerClass = std::array<std::array<double, 3>, kGpuClasses>;

  std::string version;  ///< "2.30"
  std::string patch;    ///< newest patch release that it describes: "2.30.7"

  PerAlgorithm base_latency{};
  std::array<PerAlgorithm, kStepLinks> link_latency{};
  /// Bus bandwidth of LL for the whole communicator; across nodes the CPU selects the row
  PerClass ll_bus{};
  PerClass ring_ll128_channel{}, tree_ll128_channel{}, tree_channel{}, nvls_tree_channel{};
  std::array<double, kGpuClasses> nvls_efficiency{};
  /// [protocol][log2(bytes / 64)]: factor on a tree's bandwidth
  std::array<std::vector<double>, kProtocols> tree_correction;

  // Factors of the bus bandwidth.
  double ring_ll = 0;  ///< LL rings for all-reduce and reduce on several nodes
  double ring_ll_otherwise = 0;
  double ring_ll128 = 0;
  double ring_ll128_one_rank_a_node = 0;  ///< with fewer than 2 ranks per node
  double tree = 0;
  double tree_ll_divisor = 0;
  double tree_ll128_one_node = 0, tree_ll128 = 0;
  double tree_without_balance = 0;  ///< for trees whose parent and children are on one GPU
  double pat = 0;
  double collnet_direct_hopper = 0;  ///< for compute capability 90 and above
  double collnet_direct_gather_net = 0;
  double collnet_direct_gather_full = 0;  ///< 8 ranks a node, where it blends
  double collnet_direct_gather_lone = 0;  ///< with one rank per node
  double nvls_gather_net = 0;
  double nvls_gather_ratio = 0;  ///< ratio of algorithm to bus bandwidth
  double nvls_ratio = 0;         ///< ratio of algorithm to bus bandwidth; 0: the ring's ratio
  /// The same for NVLSTree; times N / (N - 1) if nvls_tree_ratio_by_nodes
  double nvls_tree_ratio = 0;
  double ring_plateau = 0, ring_plateau_volta = 0;  ///< on the latency of long Simple all-reduces
  double collnet_arity_us = 0, pat_rank_us = 0, pat_step_divisor = 0;
  double net_overhead_us = 0, net_overhead_amd_us = 0;

  // Behaviour that differs between versions.
  NvlsSpeed nvls_speed = NvlsSpeed::Efficiency;
  /// The number of NVLSTree steps grows with N, and the NIC's latency is not added
  bool nvls_counts_nodes = false;
  bool nvls_needs_two_heads = false;  ///< NVLS needs a search result with 2 channels or more
  /// Across nodes, NVLS has at most as many channels as the communicator
  bool nvls_channels_are_bounded = false;
  bool nvls_gathers = false;  ///< NVLS also does all-gather and reduce-scatter
  bool nvls_gathers_across_nodes = false;
  /// All-gather over NVLS requires a data type that NVLS can reduce
  bool nvls_tests_gather_type = false;
  /// Gathers get (ppn - 1) / ppn of the node's bandwidth; ppn: ranks per node
  bool nvls_gathers_skip_self = false;
  bool nvls_tree_ratio_by_nodes = false;
  bool collnet_direct_gathers = false;
  /// Gathers interpolate between two factors instead of using the NICs' share
  bool collnet_direct_gather_blends = false;
  /// CollNetChain is limited to as many ranks per node as CollNetDirect
  bool collnet_chain_is_limited = false;
  bool has_pat = false;
  LoneRankLatency lone_rank_latency = LoneRankLatency::None;
  /// Trees of Simple over PCI on POWER get the ring's latency
  bool power_trees_pay_ring_latency = false;
  bool blackwell_ring_pairs_take_nics = false;  ///< rings of two nodes use the NICs' bandwidth
  /// Trees use the lower of intra- and inter-node bandwidth for every N on Blackwell
  bool blackwell_trees_take_narrower = false;
  bool pat_takes_narrower = false;  ///< the same for PAT, on any GPU
  bool pat_counts_nic_latency_once = false;
  /// PAT also runs with several ranks per node if all are NVLS heads, as a last resort
  bool pat_over_nvls = false;
  /// NVLS gathers use the smallest node's number of ranks; else the mean
  bool nvls_gathers_count_smallest_node = false;
  bool collnet_direct_needs_switch = false;
  /// All-reduce, too, requires at most as many local ranks as heads
  bool collnet_needs_heads = false;
  /// Rings of gathers have the plateau, too, on one Blackwell node over NVLink
  bool ring_plateau_of_gathers = false;
  bool last_of_equals_wins = false;  ///< of candidates with equal time; else the first wins
  bool lone_rank_has_thresholds = false;
  bool refused_pairs_keep_cost = false;  ///< the logged table has costs of pairs that cannot run
  /// A ring all-reduce has 2N network steps, not 2(N - 1)
  bool all_reduce_crosses_all_nodes = false;
  /// The pattern merged over all nodes selects tree_without_balance; else rank 0's own
  bool tree_pattern_of_all_nodes = false;
  /// tree_correction applies to NVLSTree on Blackwell with x86 CPUs
  bool tree_corrects_nvls_tree = false;
  bool tree_corrects_nvls_tree_on_arm = false;  ///< and on Arm: nodes of 4 ranks, NICs of 96 GB/s
  bool tree_corrects_tiny = false;              ///< tree_correction treats less than 64 B as 64 B
  bool tree_uses_all_threads = false;
  /// Long Simple calls of trees halve their chunks, depending on the tree's depth
  bool tree_halves_chunks = false;
  bool overhead_of_own_host = false;  ///< only rank 0's CPU selects the network overhead
  bool cpus_of_own_host = false;      ///< only rank 0's CPU is used in all other rules about CPUs
  /// Scheduler::Loops also uses the channels that were added for NVLS
  bool loop_takes_all_channels = false;
  bool ll128_over_nvb = false;  ///< LL128 is allowed over NVLink through another GPU
  bool ll128_over_c2c = false;  ///< on Hopper, NCCL_LL128_C2C decides whether LL128 may use PXN
  /// NCCL_LL128_C2C applies to P2C instead, and PXN is always allowed
  bool ll128_p2c_is_last = false;
  bool ll128_needs_one_capability = false;  ///< LL128 requires equal capabilities, even from 90 on
  bool lists_name_collectives = false;      ///< NCCL_ALGO accepts lists such as allreduce:ring
  /// Without CollNet, an NCCL_ALGO of only CollNet is ignored: rings and trees are allowed
  bool collnet_lists_are_ignored = false;
  RingFallback ring_fallback = RingFallback::None;
  SchedulerModel scheduler;
  /// Collectives of one launch that all algorithms except rings process in one pass
  int tasks_per_batch = 0;
  int pat_capability = 0;     ///< lowest compute capability for PAT; 0: any
  int nvls_gather_ranks = 0;  ///< most ranks of a node for NVLS gathers; 0: no limit
  int slow_ring_threads = 0;  ///< threads of a Simple ring that is no faster than PCI 3.0 x16
  /// Across nodes, NVLS below this bandwidth (GB/s) uses chunks of 32 KiB
  int nvls_narrow_gbs = 0;
  /// Initial chunk of NVLSTree, bytes: [0] up to 3 nodes, [1] from 4 on. 0: the communicator's nvls_tree_chunk.
  std::array<int, 2> nvls_tree_chunk{};
  /// Capabilities on which LL128 is allowed; empty: all from 70 on
  std::vector<int> ll128_capabilities;
};

/// Loads the model of a version such as "2.30" or "2.30.7". A patch release that decides differently from later ones
/// has its own file; every other patch uses the next described one.
/// errors  NotFound: the version is not described; the error names the known ones.  Corrupt: a data file is invalid (a
///         test loads all files)
Result<TuningModel> load_tuning_model(std::string_view version);

/// Returns the minor releases that have a file, newest first: "2.30", "2.29", ...
std::span<const std::string> tuning_versions();

/// Returns the patch releases that have their own file, newest first: "2.29.3", ...
std::span<const std::string> tuning_patches();

}  // namespace ringside
