#pragma once

#include <functional>
#include <optional>
#include <span>

#include "sim/event/wiring.h"
#include "sim/flow/channel_flow.h"

namespace ringside {

/// All channels as one job that is folded: a task and a line for each kind of each class of channels, over links of
/// which those that carry the same count once. It is what fold() makes of the whole job, found channel by channel.
///
/// Channels are of one class where their lines lie over links of the same kinds, and links of one kind where the same lines of
/// the same classes lie over them: split round after round until no class splits any more.
/// rate     bytes/s of a link
/// returns  nothing where lines that are alike within a channel lie over links that are not, or chunks count as alike in some
///          channels and not in others: then what is alike in each is not alike in all of them together
std::optional<EventJob> join_alike(std::span<const ChannelFlow> channels,
                                   const std::function<double(int)>& rate);

}  // namespace ringside
