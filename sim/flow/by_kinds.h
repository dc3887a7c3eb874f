#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "sim/flow/channel_flow.h"
#include "sim/simulate.h"

namespace ringside {

/// The time of a call's steps by events, where so many tasks are alike that few steps remain: all loops, or as many as it takes
/// until each takes as long as the one before, and the same with the steps of long rings. What differs from simulate_events() is
/// that pace alone, and where the job is folded by channels (join_alike()), that each chunk counts as the first of its loop.
///
/// returns  without the launch; nothing where too many kinds are left
/// errors   as simulate_events()
Result<std::optional<Seconds>> time_by_kinds(const SimRequest& request,
                                             std::span<const ChannelFlow> channels);

}  // namespace ringside
