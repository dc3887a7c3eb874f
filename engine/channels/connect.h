#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "engine/channels/channels.h"
#include "engine/channels/comm_shape.h"
#include "engine/channels/graph.h"
#include "engine/channels/parameters.h"

namespace ringside {

/// The properties of one node that its ranks send to all ranks. Equal nodes share one report.
/// source  NCCL 2.30.7 init.cc: the second all-gather of initTransportsRank
struct NodeReport {
  Graphs graphs;  ///< GPU indices count within the node
  int nranks = 0;
  int min_cc = 0, max_cc = 0;
  CpuArch cpu_arch = CpuArch::Unknown;  ///< architecture of the node's first CPU
  CpuVendor cpu_vendor = CpuVendor::Unknown;
  bool has_nvswitch = false;
  bool is_all_nvlink = false;      ///< NVLink connects every pair of its GPUs
  bool is_all_direct_p2p = false;  ///< every pair may use P2P
  /// Minima over its ranks: channels to a peer, and number and bandwidth of a rank's NICs.
  int p2p_channels_per_peer = 1;
  int net_count = 0;
  float min_net_bw = 0;  ///< GB/s
};

/// A node of the job: the index of its report, and its ranks in GPU order.
struct JobNode {
  int report = 0;
  std::vector<int> ranks = {};
};

/// The shape and the channels of a communicator.
struct Connection {
  CommShape shape;
  Channels channels;
};

/// Joins the nodes' graphs into the rings, trees, NVLS and CollNet structures of the job.
/// nodes    in NCCL's order: by their lowest rank
/// errors   InvalidArgument: nodes have different numbers of network devices with NCCL_IGNORE_NET_MISMATCH=0
/// source   NCCL 2.30.7 graph/connect.cc, init.cc, transport/nvls.cc
Result<Connection> connect_nodes(std::span<const NodeReport> reports,
                                 std::span<const JobNode> nodes,
                                 const ChannelParameters& parameters);

}  // namespace ringside
