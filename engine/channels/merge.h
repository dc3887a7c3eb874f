#pragma once

#include "base/result.h"
#include "engine/channels/comm_shape.h"
#include "engine/channels/job_view.h"

namespace ringside {

/// Merges the nodes' reports: for each graph the fewest channels, the lowest bandwidths and the worst paths. It sets
/// all fields of CommShape except the final counts of channels and the sizes in bytes.
///
/// p2p_channels_per_peer is the minimum over the ranks.
/// errors  InvalidArgument: different numbers of NICs with NCCL_IGNORE_NET_MISMATCH=0
/// source  NCCL 2.30.7 init.cc: initTransportsRank, after the second all-gather
Result<CommShape> merge_reports(const JobView& job, const ChannelParameters& parameters);

}  // namespace ringside
