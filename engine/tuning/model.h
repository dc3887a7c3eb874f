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

/// Rows of the bandwidth tables, by the lowest compute capability of a job.
enum class GpuClass : std::uint8_t { Volta = 0, Ampere = 1, Hopper = 2, Blackwell = 3 };
inline constexpr int kGpuClasses = 4;

/// capability  10 x major + minor
GpuClass class_of_gpu(int capability);

/// What a step crosses: NVLink, else PCI, within a node; the network between nodes.
enum class StepLink : std::uint8_t { NvLink = 0, Pci = 1, Net = 2 };
inline constexpr int kStepLinks = 3;

/// How NVLS's two bandwidths, of the links inside and between nodes, become one.
enum class NvlsSpeed : std::uint8_t {
  Efficiency,  ///< the switch's efficiency; the narrower
  Narrower,  ///< the narrower of the graph's two; NVLSTree halves the NICs' on more than two nodes
  ByNodes,   ///< up to two nodes the links', on more the NICs'
};

/// What happens where NCCL_ALGO leaves no algorithm.
enum class RingFallback : std::uint8_t {
  None,      ///< an error
  Always,    ///< none is needed: rings stay for all but all-reduce
  Protocol,  ///< the ring's fastest protocol, of those that NCCL_PROTO leaves
  Any,       ///< the ring's fastest protocol, forbidden or not
};

/// Which algorithms pay a tree's network latency where every node has one rank.
enum class LoneRankLatency : std::uint8_t { None, All, Ring };

/// How a launch's bytes are dealt out to channels.
enum class Scheduler : std::uint8_t {
  Loops,  ///< a collective takes all channels that it was given, loop after loop
  Bytes,  ///< channels are filled one after the other up to the same number of bytes
  Cells,  ///< the same in cells, by traffic, with a first, middle and last share
};

/// The constants of a scheduler.
struct SchedulerModel {
  Scheduler kind = Scheduler::Cells;
  int traffic_floor = 0;  ///< bytes: what a collective counts at least; also a cell's traffic
  bool share_has_floor = false;  ///< a channel's share is the floor at least, and is not rounded
  bool is_plain = false;         ///< cells of 16 bytes; no floor for a collective
  int ll_traffic = 1;            ///< times that LL's bytes count
};

/// The constants and rules by which one version of NCCL predicts a time: data/nccl-<version>.yaml,
/// where each constant has its unit and its source.
/// unit  latencies us, bandwidths GB/s = 1e9 bytes/s; double precision, as NCCL's constants are
struct TuningModel {
  using PerProtocol = std::array<double, kProtocols>;
  using PerAlgorithm = std::array<PerProtocol, kAlgorithms>;
  /// [GPU class][0: one node, 1: two, 2: more]
  using PerClass = std::array<std::array<double, 3>, kGpuClasses>;

  std::string version;  ///< "2.30"
  std::string patch;    ///< the newest patch release that it describes: "2.30.7"

  PerAlgorithm base_latency{};
  std::array<PerAlgorithm, kStepLinks> link_latency{};
  PerClass ll_bus{};  ///< of the whole communicator; across nodes the CPU picks the row
  PerClass ring_ll128_channel{}, tree_ll128_channel{}, tree_channel{}, nvls_tree_channel{};
  std::array<double, kGpuClasses> nvls_efficiency{};
  std::array<std::vector<double>, kProtocols> tree_correction;  ///< by log2(bytes / 64)

  // Factors of the bus bandwidth.
  double ring_ll = 0;  ///< several nodes, all-reduce, reduce
  double ring_ll_otherwise = 0;
  double ring_ll128 = 0;
  double ring_ll128_one_rank_a_node = 0;  ///< fewer than 2 ranks a node
  double tree = 0;
  double tree_ll_divisor = 0;
  double tree_ll128_one_node = 0, tree_ll128 = 0;
  double tree_without_balance = 0;  ///< trees whose parent and children are on one GPU
  double pat = 0;
  double collnet_direct_hopper = 0;  ///< compute capability 90 and above
  double collnet_direct_gather_net = 0;
  double collnet_direct_gather_full = 0;  ///< with 8 ranks a node, where the share is blended
  double collnet_direct_gather_lone = 0;  ///< with one
  double nvls_gather_net = 0;
  double nvls_gather_ratio = 0;  ///< of algorithm to bus bandwidth
  double nvls_ratio = 0;         ///< of algorithm to bus bandwidth; 0: that of a ring
  double nvls_tree_ratio = 0;    ///< the same; times N / (N - 1) where nvls_tree_ratio_by_nodes
  double ring_plateau = 0, ring_plateau_volta = 0;  ///< of the latency of long Simple all-reduces
  double collnet_arity_us = 0, pat_rank_us = 0, pat_step_divisor = 0;
  double net_overhead_us = 0, net_overhead_amd_us = 0;

  // What a version does or leaves.
  NvlsSpeed nvls_speed = NvlsSpeed::Efficiency;
  bool nvls_counts_nodes = false;     ///< NVLSTree's steps grow with the nodes; no NIC's latency
  bool nvls_needs_two_heads = false;  ///< channels of its search
  bool nvls_channels_are_bounded = false;  ///< across nodes, by the channels of the communicator
  bool nvls_gathers = false;               ///< NVLS for all-gather and reduce-scatter
  bool nvls_gathers_across_nodes = false;
  bool nvls_tests_gather_type = false;  ///< all-gathers need a type that NVLS can reduce
  bool nvls_gathers_skip_self = false;  ///< their share (ppn - 1) / ppn of the node's bandwidth
  bool nvls_tree_ratio_by_nodes = false;
  bool collnet_direct_gathers = false;
  bool collnet_direct_gather_blends = false;  ///< its share from two factors, not the NICs'
  bool collnet_chain_is_limited = false;      ///< to as many ranks a node as CollNetDirect
  bool has_pat = false;
  LoneRankLatency lone_rank_latency = LoneRankLatency::None;
  bool power_trees_pay_ring_latency = false;    ///< Simple over PCI on POWER
  bool blackwell_ring_pairs_take_nics = false;  ///< rings of two nodes: the NICs' bandwidth
  bool blackwell_trees_take_narrower = false;   ///< the narrower of links and NICs, at any size
  bool pat_takes_narrower = false;              ///< the same, on any GPU
  bool pat_counts_nic_latency_once = false;
  bool pat_over_nvls =
      false;  ///< with several ranks per node, all of them NVLS heads: as a last resort
  bool nvls_gathers_count_smallest_node = false;  ///< else the mean number of ranks per node
  bool collnet_direct_needs_switch = false;
  bool collnet_needs_heads = false;      ///< all-reduce as well: no more local ranks than heads
  bool ring_plateau_of_gathers = false;  ///< on one node of Blackwell over NVLink
  bool last_of_equals_wins = false;      ///< of two equal times; else the first
  bool lone_rank_has_thresholds = false;
  bool refused_pairs_keep_cost = false;       ///< in the table that the log shows
  bool all_reduce_crosses_all_nodes = false;  ///< 2N network steps of a ring, not 2(N - 1)
  bool tree_pattern_of_all_nodes = false;     ///< else rank 0's own decides on tree_without_balance
  bool tree_corrects_nvls_tree = false;       ///< on Blackwell under x86
  bool tree_corrects_nvls_tree_on_arm = false;  ///< with nodes of 4 ranks and NICs of 96 GB/s
  bool tree_corrects_tiny = false;              ///< less than 64 B as 64 B
  bool tree_uses_all_threads = false;
  bool tree_halves_chunks = false;       ///< long Simple ones, by the tree's depth
  bool overhead_of_own_host = false;     ///< rank 0's CPU decides on the network's overhead
  bool cpus_of_own_host = false;         ///< and on all else where CPUs matter
  bool loop_takes_all_channels = false;  ///< those added for NVLS, too
  bool ll128_over_nvb = false;           ///< NVLink through another GPU
  bool ll128_over_c2c = false;           ///< PXN on Hopper is NCCL_LL128_C2C's to allow
  bool ll128_p2c_is_last = false;        ///< that variable is about P2C, and PXN is always allowed
  bool ll128_needs_one_capability = false;  ///< even of 90 and above
  bool lists_name_collectives = false;      ///< NCCL_ALGO=allreduce:ring
  bool collnet_lists_are_ignored = false;   ///< without CollNet: rings and trees come back
  RingFallback ring_fallback = RingFallback::None;
  SchedulerModel scheduler;
  int tasks_per_batch = 0;    ///< collectives of one launch that all but rings take in one pass
  int pat_capability = 0;     ///< the least; 0: any
  int nvls_gather_ranks = 0;  ///< of a node, at most; 0: any number
  int slow_ring_threads = 0;  ///< of a Simple ring that is no faster than PCI 3.0 x16
  int nvls_narrow_gbs = 0;    ///< across nodes, below that: chunks of 32 KiB
  /// Bytes that a chunk of NVLSTree begins with: up to 3 nodes, from 4 on. 0: what the communicator holds.
  std::array<int, 2> nvls_tree_chunk{};
  std::vector<int> ll128_capabilities;  ///< empty: all from 70
};

/// The model of "2.30", or of "2.30.7" up to the newest patch release that is described. A patch that decides otherwise
/// than those after it has a file of its own; the others are as the next described one.
/// errors  NotFound: a version that is not described; the known ones are named. Corrupt: data that
///         break the grammar (a test loads them all)
Result<TuningModel> load_tuning_model(std::string_view version);

/// The described minor releases, newest first: "2.30", "2.29", ... They are those that have a file.
std::span<const std::string> tuning_versions();

/// The patch releases that have a file of their own, newest first: "2.29.3", ...
std::span<const std::string> tuning_patches();

}  // namespace ringside
