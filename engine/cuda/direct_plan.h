#pragma once

#include <span>
#include <vector>

#include "base/env.h"
#include "base/result.h"
#include "engine/collectives/direct_stores.h"
#include "engine/reduce/reduce_op.h"

namespace ringside {

/// Returns whether messages of a call may be stored directly into outputs: with Simple, if the transferred data equals
/// the data in the output. An average of integers is divided when it is written, so it uses slots.
/// reduce  null: no reduction
bool can_store_directly(Protocol protocol, const ReduceOp* reduce);

/// Returns the user's setting: true unless NCCL_P2P_DIRECT_DISABLE is 1.
/// errors  InvalidArgument: its value is not a number
Result<bool> wants_direct_stores(const Environment& environment = env_text);

/// Returns find_direct_stores() for each channel.
/// tasks    [rank][channel], of all ranks
/// returns  [rank][channel]
std::vector<std::vector<DirectStores>> direct_stores_of(
    std::span<const std::vector<ChannelTask>> tasks);

}  // namespace ringside
