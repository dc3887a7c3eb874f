#pragma once

#include <vector>

#include "base/result.h"
#include "engine/channels/channels.h"
#include "engine/collectives/plan.h"
#include "engine/tuning/choice.h"
#include "harness/scenario/plan_faults.h"

namespace ringside::study {

/// The data that a rank sends to each other rank on each channel in a call, by its steps. Data through a switch that
/// reduces is sent to no rank.
/// returns  by channel, then rank; no entry has 0 bytes
/// errors   as TaskPlanner::make()
Result<std::vector<SentOn>> sends_of(const Choice& choice, const Channels& channels,
                                     const CallShape& call, Rank from);

}  // namespace ringside::study
