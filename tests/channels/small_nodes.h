#pragma once

#include <string>
#include <vector>

#include "engine/channels/connect.h"

/// Nodes whose graphs are as simple as possible while they differ, and jobs made of them.
namespace ringside::small {

/// Returns rings in which channel c passes the GPUs upwards from c on: c, c + 1, ..., and around.
inline std::vector<std::vector<int>> rotations(int gpus, int nchannels) {
  std::vector<std::vector<int>> channels(static_cast<std::size_t>(nchannels));
  for (int channel = 0; channel < nchannels; ++channel) {
    for (int i = 0; i < gpus; ++i) {
      channels[static_cast<std::size_t>(channel)].push_back((channel + i) % gpus);
    }
  }
  return channels;
}

inline Graph graph(GraphId id, Pattern pattern, int gpus, int nchannels, float gbs = 20) {
  Graph made;
  made.id = id;
  made.pattern = pattern;
  made.nchannels = nchannels;
  made.bw_intra = made.bw_inter = gbs;
  made.type_intra = PathType::Nvl;
  made.type_inter = PathType::Pix;
  made.intra = rotations(gpus, nchannels);
  return made;
}

/// Makes a node with only rings and trees, of compute capability 80.
inline NodeReport node(int gpus, int nchannels, Pattern tree = Pattern::Tree) {
  NodeReport report;
  report.graphs[GraphId::Ring] = graph(GraphId::Ring, Pattern::Ring, gpus, nchannels);
  report.graphs[GraphId::Tree] = graph(GraphId::Tree, tree, gpus, nchannels);
  report.nranks = gpus;
  report.min_cc = report.max_cc = 80;
  report.cpu_arch = CpuArch::X86;
  report.cpu_vendor = CpuVendor::Intel;
  report.is_all_nvlink = true;
  report.p2p_channels_per_peer = 2;
  report.net_count = 1;
  report.min_net_bw = 48;
  return report;
}

/// Makes a node with NVLS, with one head for each GPU.
inline NodeReport nvls_node(int gpus, int cc) {
  NodeReport report = node(gpus, 8);
  report.min_cc = report.max_cc = cc;
  report.graphs[GraphId::Nvls] = graph(GraphId::Nvls, Pattern::Nvls, gpus, gpus);
  for (std::vector<int>& channel : report.graphs[GraphId::Nvls].intra) channel.resize(1);
  return report;
}

/// Numbers the ranks node by node; report[k] is node k's.
inline std::vector<JobNode> nodes(const std::vector<NodeReport>& reports,
                                  const std::vector<int>& report) {
  std::vector<JobNode> made;
  int rank = 0;
  for (const int index : report) {
    JobNode& job_node = made.emplace_back();
    job_node.report = index;
    for (int gpu = 0; gpu < reports[static_cast<std::size_t>(index)].nranks; ++gpu) {
      job_node.ranks.push_back(rank++);
    }
  }
  return made;
}

/// Joins `nnodes` equal nodes. The test fails if they cannot be joined.
inline Connection connect(const NodeReport& report, int nnodes,
                          const ChannelParameters& parameters = {}) {
  const std::vector<NodeReport> reports{report};
  return *connect_nodes(
      reports, nodes(reports, std::vector<int>(static_cast<std::size_t>(nnodes), 0)), parameters);
}

}  // namespace ringside::small
