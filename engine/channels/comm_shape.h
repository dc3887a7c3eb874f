#pragma once

#include <array>
#include <vector>

#include "engine/channels/graph.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// The properties of a job that the tuner's choices depend on. They are the same on all ranks, except for the graphs'
/// latency_inter, has_nvswitch and is_all_direct_p2p, which are rank 0's.
/// source  NCCL 2.30.7: struct ncclComm as ncclTopoTuneModel and the scheduler read it
struct CommShape {
  int nranks = 1, nnodes = 1;
  int min_local_ranks = 1, max_local_ranks = 1;   ///< ranks of the smallest and of the largest node
  int min_cc = 0, max_cc = 0;                     ///< compute capability, 10 x major + minor
  CpuArch cpu_arch = CpuArch::Unknown;            ///< common to all hosts; Mixed if they differ
  CpuVendor cpu_vendor = CpuVendor::Unknown;      ///< the same
  CpuArch own_cpu_arch = CpuArch::Unknown;        ///< that of rank 0's host; Unknown: as cpu_arch
  CpuVendor own_cpu_vendor = CpuVendor::Unknown;  ///< the same

  std::array<GraphSummary, kGraphs> graphs;  ///< merged over the ranks, by GraphId
  Pattern max_tree_pattern = Pattern::BalancedTree;
  bool has_nvswitch = false;

  int nchannels = 0;  ///< after doubling and limits
  /// Number of those channels before some were added for NVLS (2.20 .. 2.27); 0: all.
  int collective_channels = 0;
  int nvls_channels = 0;
  int nvls_heads = 0;  ///< smallest number of heads of a node
  bool has_nvls = false;
  int nvls_chunk = 0, nvls_tree_chunk = 0;  ///< bytes
  bool has_collnet = false, has_collnet_chain = false;
  int collnet_heads = 0;  ///< number of heads of CollNetDirect
  int collnet_depth = 0;  ///< depth of CollNetDirect: 2 if a node has several ranks, else 1

  int p2p_channels = 0, p2p_channels_per_peer = 0;
  int p2p_chunk = 0;                                     ///< bytes
  std::array<int, 3> buffers{524288, 4915200, 4194304};  ///< bytes of a connection, by Protocol
  bool is_all_nvlink = false, is_all_direct_p2p = false;
  int min_net_count = 0;
  float min_net_bw = 0;  ///< GB/s

  [[nodiscard]] const GraphSummary& graph(GraphId id) const {
    return graphs[static_cast<std::size_t>(id)];
  }
};

}  // namespace ringside
