#pragma once

#include "engine/channels/comm_shape.h"

/// Jobs on idealized nodes as the tuner sees them, built manually.
namespace ringside {

inline GraphSummary summary(GraphId id, Pattern pattern, int nchannels, float intra, float inter,
                            PathType type_intra = PathType::Nvl,
                            PathType type_inter = PathType::Pix) {
  GraphSummary graph;
  graph.id = id;
  graph.pattern = pattern;
  graph.nchannels = nchannels;
  graph.bw_intra = intra;
  graph.bw_inter = inter;
  graph.type_intra = type_intra;
  graph.type_inter = type_inter;
  return graph;
}

/// Nodes of 8 GPUs of compute capability 90 with 18 NVLinks each to a switch, and a 400 Gbit/s NIC a
/// GPU, under Intel CPUs.
/// one node    rings and trees 12 x 30 GB/s, NVLS 8 x 40/60; 24 channels
/// several     rings and trees 8 x 48 GB/s, NVLS 8 x 40/48; 16 channels
inline CommShape h100_shape(int nnodes) {
  CommShape shape;
  shape.nranks = 8 * nnodes;
  shape.nnodes = nnodes;
  shape.min_local_ranks = shape.max_local_ranks = 8;
  shape.min_cc = shape.max_cc = 90;
  shape.cpu_arch = CpuArch::X86;
  shape.cpu_vendor = CpuVendor::Intel;
  const bool one = nnodes == 1;
  const int k = one ? 12 : 8;
  const float bw = one ? 30 : 48;
  const Pattern tree = one ? Pattern::BalancedTree : Pattern::Tree;
  shape.graphs = {summary(GraphId::Ring, Pattern::Ring, k, bw, bw),
                  summary(GraphId::Tree, tree, k, bw, bw),
                  summary(GraphId::CollNetChain, Pattern::Tree, 0, 0, 0),
                  summary(GraphId::Nvls, Pattern::Nvls, 8, 40, one ? 60.0F : 48.0F),
                  summary(GraphId::CollNetDirect, Pattern::CollNetDirect, 0, 0, 0)};
  shape.graphs[0].same_channels = one;
  shape.max_tree_pattern = tree;
  shape.has_nvswitch = shape.has_nvls = true;
  shape.nchannels = one ? 24 : 16;
  shape.nvls_channels = 16;
  shape.nvls_heads = 8;
  shape.nvls_chunk = shape.nvls_tree_chunk = 131072;
  return shape;
}

/// Nodes of one such GPU and NIC: rings 2 x 24 GB/s, trees 2 x 48/24; 4 channels.
inline CommShape one_gpu_shape(int nnodes) {
  CommShape shape = h100_shape(nnodes);
  shape.nranks = nnodes;
  shape.min_local_ranks = shape.max_local_ranks = 1;
  shape.graphs[0] = summary(GraphId::Ring, Pattern::Ring, 2, 24, 24, PathType::Loc);
  shape.graphs[0].same_channels = true;
  shape.graphs[1] = summary(GraphId::Tree, Pattern::Tree, 2, 48, 24, PathType::Loc);
  shape.graphs[3].nchannels = 0;
  shape.max_tree_pattern = Pattern::Tree;
  shape.has_nvls = false;
  shape.nvls_channels = shape.nvls_heads = 0;
  shape.nchannels = 4;
  return shape;
}

/// One node of 4 GPUs of compute capability 80 without NVLink: rings and trees 1 x 20 GB/s over the
/// CPUs; 2 channels.
inline CommShape pcie_shape() {
  CommShape shape = h100_shape(1);
  shape.nranks = shape.min_local_ranks = shape.max_local_ranks = 4;
  shape.min_cc = shape.max_cc = 80;
  shape.graphs[0] = summary(GraphId::Ring, Pattern::Ring, 1, 20, 20, PathType::Sys);
  shape.graphs[0].same_channels = true;
  shape.graphs[1] = summary(GraphId::Tree, Pattern::BalancedTree, 1, 20, 20, PathType::Sys);
  shape.graphs[3].nchannels = 0;
  shape.has_nvswitch = shape.has_nvls = false;
  shape.nvls_channels = shape.nvls_heads = 0;
  shape.nchannels = 2;
  return shape;
}

}  // namespace ringside
