#pragma once

#include <vector>

#include "base/ids.h"
#include "engine/topology/node_type.h"

namespace ringside {

/// The lanes of a communicator. Each ring holds every rank once, begins at rank 0, and goes on from
/// its last rank to its first.
struct Channels {
  std::vector<std::vector<Rank>> rings;  ///< [channel][position] = rank

  [[nodiscard]] int count() const { return static_cast<int>(rings.size()); }
};

/// How many channels the search gives a cluster, before each is doubled.
///
/// several nodes  the NICs of a node: each ring enters and leaves a node once, so as many rings as
/// NICs
///                load each NIC once in each direction
/// one node       the GPU link in lanes of 30 GB/s, at least 1 and at most 16
/// source  NCCL 2.30's search on DGX-H100: 8 x 48 GB/s across nodes, 12 x 30 GB/s inside one
int search_channels(const Cluster& cluster);

/// NCCL's rings on a cluster: the search channels, then all of them once more.
///
/// Inside a node even channels walk the GPUs downwards, odd ones upwards. Across nodes, channel c
/// enters node 0 at NIC c's GPU, passes all GPUs, and leaves at the GPU of its partner's NIC (c xor
/// 1; c + 1 around when the NICs are odd in number); odd nodes swap the two, so that each way
/// between nodes stays on one rail. With an odd number of nodes the way from the last node to the
/// first crosses rails. source  NCCL 2.30: connect.cc (odd nodes swap channel pairs, duplication),
/// DGX-H100's search result
Channels cluster_channels(const Cluster& cluster);

/// Ranks 0, 1, .. n-1 in their natural order on every channel: ranks on hosts, of which no more is
/// known. shape  nranks >= 1, nchannels >= 1
Channels host_channels(int nranks, int nchannels);

}  // namespace ringside
