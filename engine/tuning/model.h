#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/vocabulary.h"
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
  double nvls_gather_net = 0;
  double nvls_ratio = 0;       ///< of algorithm to bus bandwidth; 0: that of a ring
  double nvls_tree_ratio = 0;  ///< the same; times N / (N - 1) where nvls_tree_ratio_by_nodes
  double ring_plateau = 0, ring_plateau_volta = 0;  ///< of the latency of long Simple all-reduces
  double collnet_arity_us = 0, pat_rank_us = 0, pat_step_divisor = 0;
  double net_overhead_us = 0, net_overhead_amd_us = 0;

  // What a version does or leaves.
  bool nvls_from_efficiency = false;    ///< else the narrower of the graph's two bandwidths
  bool nvls_gathers = false;            ///< NVLS for all-gather and reduce-scatter
  bool nvls_gathers_skip_self = false;  ///< their share (ppn - 1) / ppn of the node's bandwidth
  bool nvls_tree_ratio_by_nodes = false;
  bool collnet_direct_gathers = false;
  bool has_pat = false;
  bool lone_rank_pays_tree_latency =
      false;  ///< one rank a node: the tree's network latency for all
  bool all_reduce_crosses_all_nodes = false;  ///< 2N network steps of a ring, not 2(N - 1)
  bool tree_pattern_of_all_nodes = false;     ///< else rank 0's own decides on tree_without_balance
  bool tree_corrects_nvls_tree = false;       ///< on Blackwell under x86
  bool tree_uses_all_threads = false;
  bool ll128_over_c2c = false;
  bool ll128_needs_one_capability = false;  ///< even of 90 and above
  bool falls_back_to_ring = false;          ///< where nothing is left
  bool lists_name_collectives = false;      ///< NCCL_ALGO=allreduce:ring
  std::vector<int> ll128_capabilities;      ///< empty: all from 70
};

/// The model of "2.30", or of "2.30.7" up to the patch release that it describes.
/// errors  NotFound: a version that is not described; the known ones are named. Corrupt: data that
///         break the grammar (a test loads them all)
Result<TuningModel> load_tuning_model(std::string_view version);

/// The described versions, newest first: "2.30", "2.29", ...
std::span<const std::string_view> tuning_versions();

/// What load_tuning_model() takes where nobody names one.
inline constexpr std::string_view kNewestTuning = "2.30";

}  // namespace ringside
