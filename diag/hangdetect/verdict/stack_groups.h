#pragma once

#include <optional>

#include "diag/hangdetect/verdict/explain.h"

namespace ringside::hang {

/// All ranks whose stacks are here wait in calls of groups that somebody wrote beside them, `<- group=dp [1,3]`, or above
/// them, `tp = [0,1],[2,3]`, where functions are named after the group; and they wait for each other in a circle.
std::optional<Explanation> circle_of_groups(const LogFacts& facts);

/// All stand at one place, and what is written beside their frames differs in a number: `expert_idx = 6` and `= 7`.
std::optional<Explanation> apart_in_a_number(const LogFacts& facts);

}  // namespace ringside::hang
