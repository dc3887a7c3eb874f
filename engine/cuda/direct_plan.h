#pragma once

#include <span>
#include <vector>

#include "base/env.h"
#include "base/result.h"
#include "engine/collectives/direct_stores.h"
#include "engine/reduce/reduce_op.h"

namespace ringside {

/// Whether messages of a call may be stored straight into outputs at all: by Simple, and where what is written to an
/// output is what travels. An average of integers is divided where it is written, so that one goes through slots.
/// reduce  null: nothing is reduced
bool can_store_directly(Protocol protocol, const ReduceOp* reduce);

/// Returns the user's setting: true unless NCCL_P2P_DIRECT_DISABLE is 1.
/// errors  InvalidArgument: it is no number
Result<bool> wants_direct_stores(const Environment& environment = env_text);

/// find_direct_stores() of each channel.
/// tasks    [rank][channel], of all ranks
/// returns  [rank][channel]
std::vector<std::vector<DirectStores>> direct_stores_of(
    std::span<const std::vector<ChannelTask>> tasks);

}  // namespace ringside
