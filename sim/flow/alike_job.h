#pragma once

#include <functional>
#include <optional>
#include <span>

#include "sim/event/wiring.h"
#include "sim/flow/channel_flow.h"

namespace ringside {

/// Joins all channels to one folded job (see event/fold.h). Channels form classes; the job has one
/// task and one line for each kind of each class, and one link for all links that carry the same
/// lines. The result equals fold() of the whole job, but is computed channel by channel.
///
/// Two channels are in one class if their lines use links of the same kinds. Two links are of one
/// kind if they have the same rate and carry the same lines of the same classes. Classes and kinds
/// are split in rounds until no class splits any more.
/// rate     returns the bytes/s of a link
/// returns  nullopt if lines of one kind within a channel use links of different kinds, or if only
///          some channels have chunks that count as equal: then lines that are equivalent within a
///          channel are not equivalent in the job
std::optional<EventJob> join_alike(std::span<const ChannelFlow> channels,
                                   const std::function<double(int)>& rate);

}  // namespace ringside
