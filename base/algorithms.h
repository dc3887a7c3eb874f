#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "base/words.h"

/// The algorithms, and the properties that several folders need. The text of an algorithm, its plan and NCCL's
/// formulas are elsewhere. To add an algorithm, add its enumerator and its row here, then follow
/// engine/collectives/README.md.
namespace ringside {

inline constexpr int kNcclAlgorithms = 7;

/// A set of collectives, as a bit mask.
class CollectiveSet {
 public:
  constexpr CollectiveSet(std::initializer_list<Collective> members) {
    for (const Collective one : members) bits_ |= 1U << static_cast<unsigned>(one);
  }
  static constexpr CollectiveSet all() {
    CollectiveSet set{};
    set.bits_ = (1U << kCollectiveCount) - 1;
    return set;
  }
  [[nodiscard]] constexpr bool contains(Collective one) const {
    return (bits_ >> static_cast<unsigned>(one) & 1U) != 0;
  }

 private:
  unsigned bits_ = 0;
};

/// The types and reductions that an algorithm's kernels support: see can_reduce().
enum class Reductions : std::uint8_t {
  All,
  Unscaled,  ///< operations that multiply or divide no element
  NvSwitch,  ///< operations that the switch supports: add and compare
};

/// Whether the algorithm uses a network that reduces.
enum class CollNet : std::uint8_t { Never, AcrossNodes, Always };

/// The properties of an algorithm: a row of the table of algorithms.
struct AlgorithmFacts {
  Algorithm algorithm;
  const char* name;           ///< to_string()
  const char* nccl_name;      ///< name in NCCL's variables and log
  CollectiveSet collectives;  ///< source  NCCL 2.30's list of kernels: device/generate.py
  GraphId graph;              ///< graph whose channels it uses
  /// Each channel has its own ring or tree, so there are as many channels as the search found; else all channels are
  /// alike.
  bool has_own_lanes = false;
  bool is_simple_only = false;  ///< NCCL has kernels for no other protocol
  Reductions reductions = Reductions::All;
  CollNet collnet = CollNet::Never;
  bool takes_nvswitch = false;   ///< can use a switch that reduces and multicasts
  bool needs_nodes = false;      ///< needs several nodes; on one host, ranks act as several nodes
  bool joins_all_pairs = false;  ///< has a port per rank, so at most kMaxPortsInSet ranks
  /// Data that a rank has sent comes back reduced to the same place, so the reducing rank may store the result there.
  bool returns_results = false;
  /// With in-place buffers, an input stays unchanged until all ranks have read it.
  bool keeps_input = false;

  [[nodiscard]] constexpr bool uses_collnet(int nnodes) const {
    return collnet == CollNet::Always || (collnet == CollNet::AcrossNodes && nnodes > 1);
  }
  /// Hosts have neither such a switch nor such a network: the host executor models them with copies.
  [[nodiscard]] constexpr bool is_modelled() const {
    return takes_nvswitch || collnet == CollNet::Always;
  }
};

namespace detail {
inline constexpr CollectiveSet kReduceAll{Collective::AllReduce};
inline constexpr CollectiveSet kBlocks{Collective::AllGather, Collective::ReduceScatter};
inline constexpr CollectiveSet kReduceAllAndBlocks{Collective::AllReduce, Collective::AllGather,
                                                   Collective::ReduceScatter};
}  // namespace detail

/// Indexed by the algorithm.
inline constexpr auto kAlgorithmFacts = std::to_array<AlgorithmFacts>({
    {.algorithm = Algorithm::Tree,
     .name = "tree",
     .nccl_name = "Tree",
     .collectives = detail::kReduceAll,
     .graph = GraphId::Tree,
     .has_own_lanes = true},
    {.algorithm = Algorithm::Ring,
     .name = "ring",
     .nccl_name = "Ring",
     .collectives = CollectiveSet::all(),
     .graph = GraphId::Ring,
     .has_own_lanes = true},
    {.algorithm = Algorithm::CollNetDirect,
     .name = "collnet_direct",
     .nccl_name = "CollNetDirect",
     .collectives = detail::kReduceAllAndBlocks,
     .graph = GraphId::CollNetDirect,
     .is_simple_only = true,
     .collnet = CollNet::Always,
     .needs_nodes = true},
    {.algorithm = Algorithm::CollNetChain,
     .name = "collnet_chain",
     .nccl_name = "CollNetChain",
     .collectives = detail::kReduceAll,
     .graph = GraphId::CollNetChain,
     .is_simple_only = true,
     .collnet = CollNet::Always,
     .needs_nodes = true},
    {.algorithm = Algorithm::Nvls,
     .name = "nvls",
     .nccl_name = "NVLS",
     .collectives = detail::kReduceAllAndBlocks,
     .graph = GraphId::Nvls,
     .is_simple_only = true,
     .reductions = Reductions::NvSwitch,
     .collnet = CollNet::AcrossNodes,
     .takes_nvswitch = true},
    {.algorithm = Algorithm::NvlsTree,
     .name = "nvls_tree",
     .nccl_name = "NVLSTree",
     .collectives = detail::kReduceAll,
     .graph = GraphId::Nvls,
     .is_simple_only = true,
     .reductions = Reductions::NvSwitch,
     .takes_nvswitch = true,
     .needs_nodes = true},
    {.algorithm = Algorithm::Pat,
     .name = "pat",
     .nccl_name = "PAT",
     .collectives = detail::kBlocks,
     .graph = GraphId::Tree,
     .is_simple_only = true,
     .reductions = Reductions::Unscaled},
    {.algorithm = Algorithm::OneShot,
     .name = "one_shot",
     .nccl_name = "OneShot",
     .collectives = detail::kReduceAll,
     .graph = GraphId::Tree,
     .joins_all_pairs = true},
    {.algorithm = Algorithm::TwoShot,
     .name = "two_shot",
     .nccl_name = "TwoShot",
     .collectives = detail::kReduceAll,
     .graph = GraphId::Tree,
     .joins_all_pairs = true,
     .returns_results = true,
     .keeps_input = true},
});

inline constexpr int kAlgorithmCount = static_cast<int>(kAlgorithmFacts.size());

static_assert([] {
  for (std::size_t i = 0; i < kAlgorithmFacts.size(); ++i) {
    if (static_cast<std::size_t>(kAlgorithmFacts[i].algorithm) != i) return false;
  }
  return true;
}());

constexpr const AlgorithmFacts& facts_of(Algorithm algorithm) {
  return kAlgorithmFacts[static_cast<std::size_t>(algorithm)];
}

/// Returns whether run_strand() has code for the pair.
constexpr bool has_algorithm(Collective collective, Algorithm algorithm) {
  return facts_of(algorithm).collectives.contains(collective);
}

}  // namespace ringside
