#pragma once

#include "base/result.h"
#include "engine/channels/comm_shape.h"
#include "engine/channels/job_view.h"

namespace ringside {

/// What the nodes agree on: of each graph the fewest channels, the least bandwidths and the worst
/// paths; whatever else a CommShape holds that is not a count of channels or a size in bytes.
///
/// p2p_channels_per_peer is what the rank that wants fewest asks for.
/// errors  InvalidArgument: other numbers of NICs where NCCL_IGNORE_NET_MISMATCH=0
/// source  NCCL 2.30.7 init.cc: initTransportsRank, after the second all-gather
Result<CommShape> merge_reports(const JobView& job, const ChannelParameters& parameters);

}  // namespace ringside
