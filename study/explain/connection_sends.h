#pragma once

#include <vector>

#include "base/result.h"
#include "engine/channels/channels.h"
#include "engine/collectives/plan.h"
#include "engine/tuning/choice.h"
#include "harness/scenario/plan_faults.h"

namespace ringside::study {

/// Computes the bytes that a rank sends to each other rank on each channel during a call. Data sent
/// through a switch that reduces counts for no rank.
/// returns  entries in the order of channel and rank; none has 0 bytes
/// errors   as TaskPlanner::make()
Result<std::vector<SentOn>> sends_of(const Choice& choice, const Channels& channels,
                                     const CallShape& call, Rank from);

}  // namespace ringside::study
