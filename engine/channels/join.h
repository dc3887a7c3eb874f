#pragma once

#include "engine/channels/channels.h"
#include "engine/channels/comm_shape.h"
#include "engine/channels/job_view.h"
#include "engine/channels/rules.h"

/// The structures of a job, one source file each. All take nodes whose graphs are well formed: each
/// channel of a ring, tree or chain holds every GPU of its node once.
namespace ringside {

/// One ring for each searched channel: each node's way through its GPUs, node after
/// node, from rank 0 on. Odd nodes take the neighbouring channel's way where `swap` says, so that the
/// way between two nodes stays on one rail.
/// source  NCCL 2.30.7 graph/connect.cc: ncclTopoPostset, connectRings
std::vector<std::vector<Rank>> join_rings(const JobView& job, const CommShape& shape,
                                          RingSwap swap = RingSwap::PerNode);

/// Two trees for each of `nchannels` searched channels: channel c runs along the first tree over the
/// nodes, channel c + nchannels along the second. Within a node it is a chain.
/// source  NCCL 2.30.7 graph/connect.cc: ncclTopoPreset, connectTrees
std::vector<std::vector<Channels::TreePlace>> join_trees(const JobView& job, int nchannels);

/// The first `nheads` heads of every node, and with several nodes the trees that join the first
/// `njoined` of them.
/// source  NCCL 2.30.7 graph/connect.cc: connectNvls
Channels::Nvls join_nvls(const JobView& job, int nheads, int njoined);

/// The heads of the first `direct_channels` channels of CollNetDirect, and the chain of the first
/// channel of CollNetChain, whose first GPU is next to the network.
/// source  NCCL 2.30.7 graph/connect.cc: ncclTopoPreset, connectCollNet; transport/coll_net.cc
Channels::CollNet join_collnet(const JobView& job, int direct_channels);

}  // namespace ringside
