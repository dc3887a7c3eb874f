#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "engine/channels/channels.h"
#include "engine/channels/comm_shape.h"
#include "engine/channels/graph.h"
#include "engine/channels/parameters.h"

namespace ringside {

/// What the ranks of one node send to the others. Like nodes share one.
/// source  NCCL 2.30.7 init.cc: the second all-gather of initTransportsRank
struct NodeReport {
  Graphs graphs;  ///< GPU indices count within the node
  int nranks = 0;
  int min_cc = 0, max_cc = 0;
  CpuArch cpu_arch = CpuArch::Unknown;  ///< of the first CPU
  CpuVendor cpu_vendor = CpuVendor::Unknown;
  bool has_nvswitch = false;
  bool is_all_nvlink = false;      ///< every pair of its GPUs is joined by NVLink
  bool is_all_direct_p2p = false;  ///< every pair may use P2P
  /// Over its ranks: the fewest channels to a peer, and what the NICs of a rank give.
  int p2p_channels_per_peer = 1;
  int net_count = 0;
  float min_net_bw = 0;  ///< GB/s
};

/// Which report belongs to each node of the job, and its ranks (in GPU order).
struct JobNode {
  int report = 0;
  std::vector<int> ranks = {};
};

struct Connection {
  CommShape shape;
  Channels channels;
};

/// Joins what the nodes found into the rings, trees, NVLS and CollNet structures of the job.
/// nodes    in NCCL's order: by first appearance over the ranks
/// errors   InvalidArgument: nodes disagree on what NCCL requires to be equal (network device count
///          with NCCL_IGNORE_NET_MISMATCH=0)
/// source   NCCL 2.30.7 graph/connect.cc, init.cc, transport/nvls.cc
Result<Connection> connect_nodes(std::span<const NodeReport> reports,
                                 std::span<const JobNode> nodes,
                                 const ChannelParameters& parameters);

}  // namespace ringside
