#pragma once

#include <vector>

#include "engine/channels/comm_shape.h"
#include "engine/channels/parameters.h"

/// How many channels a merged job uses and in what portions it moves data. Each function reads what
/// merge_reports() found.
namespace ringside {

/// The channels of rings and trees after doubling, growth and the limits of the environment.
/// returns  for each one, which of the 2 x (searched channels) that were laid it repeats
/// source   NCCL 2.30.7 graph/connect.cc: ncclTopoPostset
std::vector<int> repeated_channels(const CommShape& shape, const ChannelParameters& parameters);

/// More of the same, so that NVLS finds its channels among them.
/// source  NCCL 2.20 .. 2.27 graph/connect.cc
void raise_to_nvls(std::vector<int>& repeated, int nvls_channels);

/// unit  bytes
struct NvlsSizes {
  int nchannels = 0;
  int chunk = 0;
  int tree_chunk = 0;
};

/// All 0 without NVLS.
/// source  NCCL 2.30.7 transport/nvls.cc, init.cc
NvlsSizes nvls_sizes(const CommShape& shape, const ChannelParameters& parameters);

/// Of a connection, by Protocol.  unit  bytes
/// source  NCCL 2.30.7 init.cc: computeBuffSizes
std::array<int, 3> buffer_sizes(const CommShape& shape, const ChannelParameters& parameters);

struct P2pSizes {
  int nchannels = 0;
  int per_peer = 0;
  int chunk = 0;  ///< bytes
};

/// Channels of point-to-point operations, powers of two. Needs shape.nchannels and shape.buffers.
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoComputeP2pChannels
P2pSizes p2p_sizes(const CommShape& shape, const ChannelParameters& parameters);

}  // namespace ringside
