#pragma once

#include <optional>
#include <vector>

#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// Of processes that all stand in sends and receives: two that each wait for what the other has not begun. Both send, as a
/// transfer of NCCL ends once the other half is there; both receive; or neighbours of a pipeline, of which the first
/// waits for gradients and the second for activations.
///
/// returns  nothing where one of them is elsewhere, where a half fits its other half, or where ranks are not named
std::optional<Explanation> crossed_transfers(const LogFacts& facts);

/// Ranks stand in one broadcast and have given it different roots, as arguments in their stacks show.
std::optional<Explanation> roots_apart(const LogFacts& facts);

}  // namespace ringside::hang
