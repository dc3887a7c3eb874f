#pragma once

#include <vector>

#include "engine/channels/comm_shape.h"
#include "engine/channels/parameters.h"

/// Computes the number of channels of a job, and the sizes of its chunks and buffers, from the result of
/// merge_reports().
namespace ringside {

/// Returns the channels of rings and trees after doubling, growth and the limits of the environment.
/// returns  [channel]: index of the one of the 2 x (searched channels) joined channels that it repeats
/// source   NCCL 2.30.7 graph/connect.cc: ncclTopoPostset
std::vector<int> repeated_channels(const CommShape& shape, const ChannelParameters& parameters);

/// Repeats further channels until there are at least `nvls_channels`.
/// source  NCCL 2.20 .. 2.27 graph/connect.cc
void raise_to_nvls(std::vector<int>& repeated, int nvls_channels);

/// unit  bytes
struct NvlsSizes {
  int nchannels = 0;
  int chunk = 0;
  int tree_chunk = 0;
};

/// Returns NVLS's channels and chunk sizes; all 0 without NVLS.
/// source  NCCL 2.30.7 transport/nvls.cc, init.cc
NvlsSizes nvls_sizes(const CommShape& shape, const ChannelParameters& parameters);

/// Returns the buffer size of a connection, by Protocol.  unit  bytes
/// source  NCCL 2.30.7 init.cc: computeBuffSizes
std::array<int, 3> buffer_sizes(const CommShape& shape, const ChannelParameters& parameters);

/// The channels and chunks of sends and receives.
struct P2pSizes {
  int nchannels = 0;
  int per_peer = 0;
  int chunk = 0;  ///< bytes
};

/// Returns the channels (powers of two) and chunk size of point-to-point operations. Uses shape.nchannels and
/// shape.buffers.
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoComputeP2pChannels
P2pSizes p2p_sizes(const CommShape& shape, const ChannelParameters& parameters);

}  // namespace ringside
