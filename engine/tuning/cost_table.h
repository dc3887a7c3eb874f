#pragma once

#include <array>
#include <cstdint>

#include "base/assert.h"
#include "base/vocabulary.h"
#include "engine/channels/comm_shape.h"
#include "engine/tuning/model.h"
#include "engine/tuning/parameters.h"

namespace ringside {

/// Why an algorithm with a protocol cannot run a collective. If several apply, the first of this list is reported.
enum class Obstacle : std::uint8_t {
  None,
  NotForCollective,  ///< NCCL has no kernel for it
  SimpleOnly,        ///< the algorithm only supports Simple
  NotInVersion,      ///< this version of NCCL lacks it
  OneNode,           ///< needs several nodes
  SeveralNodes,      ///< NVLS on several nodes, without CollNet
  OnlyOneNode,       ///< this version supports it only within a node
  NoCollNet,         ///< CollNet is off, or the network cannot reduce
  NoChainSupport,    ///< the network plugin does not support CollNetChain
  NoNvSwitch,
  TooManyLocalRanks,    ///< a node has more ranks than heads, or than the algorithm supports
  NoNvls,               ///< the GPUs or the switch do not support multicast
  TooFewHeads,          ///< NVLS needs 2
  NoBandwidth,          ///< the graph has no channel
  Capability,           ///< the GPUs' compute capability is not supported
  SeveralRanksPerNode,  ///< NCCL uses PAT only with one rank per node
  TooFewNvlsHeads,  ///< PAT needs one rank per node, or several nodes whose ranks all are NVLS heads
  UnsafeLl128,      ///< the path may split 128-byte stores
  Algorithm,        ///< switched off by NCCL_ALGO
  Protocol,         ///< switched off by NCCL_PROTO
  Variable,         ///< switched off by another variable
  Reduction,        ///< no kernel for this type or reduction
  OneRank,          ///< a single rank only copies
};

/// Returns a short reason: "CollNet is off".
const char* to_string(Obstacle obstacle);

/// Latency = base + local_steps x local_us + net_steps x net_us + other_us.
struct LatencyTerms {
  float base_us = 0;
  double local_steps = 0;
  float local_us = 0;
  StepLink local_link = StepLink::NvLink;  ///< Net: the network's overhead hides the link
  double net_steps = 0;
  float net_us = 0;    ///< including the NIC's own latency
  float other_us = 0;  ///< terms for heads and ranks
};

/// The limit that determines the bandwidth.
enum class Bound : std::uint8_t {
  LocalLinks,  ///< the links inside a node
  Nics,
  LlBus,         ///< bus limit of LL: its flags, and between nodes the CPU
  LlLines,       ///< LL: half of each line is flags
  Ll128Channel,  ///< rate at which a channel's threads move LL128 lines
  TreeChannel,   ///< rate at which a channel's threads reduce in a tree
  NvlsTreeChannel,
  NvSwitch,  ///< NVLS: the switch's efficiency
};

/// Algorithm bandwidth = bus_gbs x the collective's ratio of algorithm to bus bandwidth.
struct BandwidthTerms {
  int nchannels = 0;      ///< channels of the searched graph
  float channel_gbs = 0;  ///< bandwidth of one channel in the graph
  Bound bound = Bound::LocalLinks;
  float bus_gbs = 0;  ///< bus bandwidth after all limits
};

/// The predicted cost of one combination, in single precision as NCCL computes it.
/// unit  us, GB/s of the algorithm
struct Cost {
  float latency_us = 0;
  /// 0: NCCL's table has no entry. A combination with bandwidth may still have an obstacle
  float bandwidth_gbs = 0;
  Obstacle obstacle = Obstacle::None;
  /// Chosen only if no other candidate is available, whatever its time
  bool is_last_resort = false;
  LatencyTerms latency = {};
  BandwidthTerms bandwidth = {};

  [[nodiscard]] bool is_available() const { return obstacle == Obstacle::None; }
};

/// The costs and limits that NCCL computes once for a communicator.
struct CostTable {
  std::array<std::array<std::array<Cost, kProtocols>, kAlgorithms>, kTunedCollectives> costs{};
  /// [algorithm][protocol]: most threads of a channel. PAT has no entry: it uses all threads.
  std::array<std::array<int, kProtocols>, kAlgorithms> max_threads{};
  /// [algorithm][protocol]: bytes per thread from which another channel is used. All 0 with one rank up to 2.30.
  std::array<std::array<int, kProtocols>, kAlgorithms> thread_thresholds{};

  /// Returns the cost of a combination.
  /// shape  c is one of the kTunedCollectives
  [[nodiscard]] const Cost& cost(Collective c, Algorithm a, Protocol p) const {
    RINGSIDE_ASSERT(static_cast<int>(c) < kTunedCollectives, "{} is not tuned", to_string(c));
    return costs[static_cast<std::size_t>(c)][static_cast<std::size_t>(a)]
                [static_cast<std::size_t>(p)];
  }
};

/// Computes the costs of all combinations for a communicator.
/// source  NCCL 2.30.7 graph/tuning.cc
CostTable make_cost_table(const TuningModel& model, const CommShape& shape,
                          const TuningParameters& parameters);

/// Returns floor(log2(value)), or -1 for 0.
int log2_floor(std::uint64_t value);

}  // namespace ringside
