#pragma once

#include "engine/channels/channels.h"
#include "engine/channels/comm_shape.h"
#include "engine/channels/job_view.h"
#include "engine/channels/rules.h"

/// Functions that join the nodes' graphs into the structures of a job, one source file each. They require valid graphs:
/// each channel of a ring, tree or chain contains every GPU of its node once.
namespace ringside {

/// Returns one ring for each searched channel: the nodes' orders of GPUs, concatenated from rank 0 on. `swap` selects
/// the odd nodes that use the neighbouring channel's order, so that the path between two nodes stays on one rail.
/// source  NCCL 2.30.7 graph/connect.cc: ncclTopoPostset, connectRings
std::vector<std::vector<Rank>> join_rings(const JobView& job, const CommShape& shape,
                                          RingSwap swap = RingSwap::PerNode);

/// Returns two trees for each of `nchannels` searched channels: channel c uses the first tree over the nodes, channel c
/// + nchannels the second. Within a node, a tree is a chain.
/// source  NCCL 2.30.7 graph/connect.cc: ncclTopoPreset, connectTrees
std::vector<std::vector<Channels::TreePlace>> join_trees(const JobView& job, int nchannels);

/// Returns the first `nheads` heads of every node and, with several nodes, the trees between the first `njoined` heads.
/// source  NCCL 2.30.7 graph/connect.cc: connectNvls
Channels::Nvls join_nvls(const JobView& job, int nheads, int njoined);

/// Returns the heads of the first `direct_channels` channels of CollNetDirect, and the chain of the first channel of
/// CollNetChain, whose first GPU is connected to the network.
/// source  NCCL 2.30.7 graph/connect.cc: ncclTopoPreset, connectCollNet; transport/coll_net.cc
Channels::CollNet join_collnet(const JobView& job, int direct_channels);

}  // namespace ringside
