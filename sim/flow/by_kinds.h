#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "sim/flow/channel_flow.h"
#include "sim/simulate.h"

namespace ringside {

/// Simulates the steps of a folded call (event/fold.h) with events, if the folding leaves few enough
/// steps. It simulates all loops, or as many as it takes until each takes as long as the one before;
/// the steps of long rings are shortened in the same way. It differs from simulate_events() only by
/// this extrapolation, and for jobs of join_alike() in that each chunk counts as the first one of
/// its loop.
///
/// channels  all channels of the call
/// returns   the time without the launch; nullopt if too many classes remain
/// errors    as simulate_events()
Result<std::optional<Seconds>> time_by_kinds(const SimRequest& request,
                                             std::span<const ChannelFlow> channels);

}  // namespace ringside
