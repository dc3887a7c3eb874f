#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/words.h"
#include "engine/topology/path_type.h"

namespace ringside {

/// source  NCCL 2.30.7 include/graph.h; the values are NCCL's
enum class Pattern : std::uint8_t {
  BalancedTree = 1,  ///< the NIC's traffic is spread over the first two GPUs
  SplitTree = 2,     ///< one tree parent on the first GPU, children on the second
  Tree = 3,          ///< parent and children on the first GPU
  Ring = 4,
  Nvls = 5,
  CollNetDirect = 6,
};

inline constexpr int kGraphs = 5;

/// The numbers that describe a search's result. The tuner uses the summary that is merged over the ranks of a job.
/// unit  bandwidths of one channel, GB/s in single precision; latency us
struct GraphSummary {
  GraphId id = GraphId::Ring;
  Pattern pattern = Pattern::Ring;
  bool is_collnet = false;
  int nchannels = 0;  ///< 0: not searched, or no channel found
  int cross_nic = 0;  ///< 2: alternate rings leave by a different NIC than they enter by
  float bw_intra = 0, bw_inter = 0;
  float latency_inter = 0;
  PathType type_intra = PathType::Loc, type_inter = PathType::Loc;  ///< the worst path used
  bool same_channels = false;  ///< every channel visits the GPUs in the same order
  int nhops = 0;
};

/// A summary and its channels.
struct Graph : GraphSummary {
  std::vector<std::vector<int>> intra;  ///< [channel][position] = GPU index; NVLS: only the head
  /// [channel] = net indices {in, out}; empty on one node
  std::vector<std::array<int, 2>> inter = {};
};

/// One graph of each kind, indexed by GraphId.
struct Graphs {
  std::array<Graph, kGraphs> by_id;
  Graph& operator[](GraphId id) { return by_id[static_cast<std::size_t>(id)]; }
  const Graph& operator[](GraphId id) const { return by_id[static_cast<std::size_t>(id)]; }
};

}  // namespace ringside
