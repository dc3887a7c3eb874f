#pragma once

#include <array>
#include <cstdint>

#include "base/assert.h"
#include "base/vocabulary.h"
#include "engine/channels/comm_shape.h"
#include "engine/tuning/model.h"
#include "engine/tuning/parameters.h"

namespace ringside {

/// Why an algorithm with a protocol cannot do a collective. The first that applies is given.
enum class Obstacle : std::uint8_t {
  None,
  NotForCollective,  ///< NCCL has no kernel for it
  SimpleOnly,        ///< the algorithm knows no other protocol
  NotInVersion,      ///< this version of NCCL lacks it
  OneNode,           ///< needs several nodes
  SeveralNodes,      ///< NVLS on several nodes, without CollNet
  OnlyOneNode,       ///< this version does it within a node
  NoCollNet,         ///< CollNet is off, or the network does not reduce
  NoChainSupport,    ///< the network's plugin knows no chain
  NoNvSwitch,
  TooManyLocalRanks,    ///< more ranks in a node than heads, or than the algorithm can take
  NoNvls,               ///< the GPUs or the switch do no multicast
  TooFewHeads,          ///< NVLS needs 2
  NoBandwidth,          ///< the graph has no channel
  Capability,           ///< of the GPUs
  SeveralRanksPerNode,  ///< PAT pays with one rank a node only
  TooFewNvlsHeads,  ///< PAT needs one rank per node, or several nodes whose ranks all are NVLS heads
  UnsafeLl128,      ///< 128-byte stores may be torn on the way
  Algorithm,        ///< switched off by NCCL_ALGO
  Protocol,         ///< switched off by NCCL_PROTO
  Variable,         ///< switched off by a variable of its own
  Reduction,        ///< not with this type or reduction
  OneRank,          ///< nothing to do but a copy
};

/// A few words: "CollNet is off".
const char* to_string(Obstacle obstacle);

/// Latency = base + local_steps x local_us + net_steps x net_us + other_us.
struct LatencyTerms {
  float base_us = 0;
  double local_steps = 0;
  float local_us = 0;
  StepLink local_link = StepLink::NvLink;  ///< Net: the network's overhead hides the link
  double net_steps = 0;
  float net_us = 0;    ///< with the NIC's own latency
  float other_us = 0;  ///< of heads and ranks
};

/// What holds the bandwidth down.
enum class Bound : std::uint8_t {
  LocalLinks,  ///< the links inside a node
  Nics,
  LlBus,         ///< flags of LL, and the CPU between nodes
  LlLines,       ///< half of each line is flags
  Ll128Channel,  ///< what a channel's threads move as LL128 lines
  TreeChannel,   ///< what a channel's threads reduce in a tree
  NvlsTreeChannel,
  NvSwitch,  ///< NVLS: the switch's own efficiency
};

/// Bandwidth of the algorithm = bus x what of the bus each byte takes.
struct BandwidthTerms {
  int nchannels = 0;      ///< of the searched graph
  float channel_gbs = 0;  ///< of one, in the graph
  Bound bound = Bound::LocalLinks;
  float bus_gbs = 0;  ///< after all bounds
};

/// unit  us, GB/s of the algorithm, single precision as NCCL computes
struct Cost {
  float latency_us = 0;
  float bandwidth_gbs = 0;  ///< 0: NCCL's table has none. Above 0 it may still have an obstacle
  Obstacle obstacle = Obstacle::None;
  bool is_last_resort = false;  ///< chosen only where nothing else is left, whatever its time
  LatencyTerms latency = {};
  BandwidthTerms bandwidth = {};

  [[nodiscard]] bool is_available() const { return obstacle == Obstacle::None; }
};

/// Everything that NCCL computes once for a communicator.
struct CostTable {
  std::array<std::array<std::array<Cost, kProtocols>, kAlgorithms>, kTunedCollectives> costs{};
  /// Of a channel, [algorithm][protocol]. PAT has none: it takes all there are.
  std::array<std::array<int, kProtocols>, kAlgorithms> max_threads{};
  /// Bytes that a thread must have before another channel is used. All 0 with one rank up to 2.30.
  std::array<std::array<int, kProtocols>, kAlgorithms> thread_thresholds{};

  /// shape  one of the kTunedCollectives
  [[nodiscard]] const Cost& cost(Collective c, Algorithm a, Protocol p) const {
    RINGSIDE_ASSERT(static_cast<int>(c) < kTunedCollectives, "{} is not tuned", to_string(c));
    return costs[static_cast<std::size_t>(c)][static_cast<std::size_t>(a)]
                [static_cast<std::size_t>(p)];
  }
};

/// source  NCCL 2.30.7 graph/tuning.cc
CostTable make_cost_table(const TuningModel& model, const CommShape& shape,
                          const TuningParameters& parameters);

/// floor(log2(value)); -1 for 0.
int log2_floor(std::uint64_t value);

}  // namespace ringside
