#pragma once

#include <span>
#include <string>

#include "study/simulation.h"

namespace ringside::study {

/// Returns true if the search for the call's channels fell back to 0.1 GB/s, as NCCL's search does
/// if it finds none. The times of NCCL's model are then meaningless.
/// source  NCCL 2.30.7 graph/search.cc: ncclTopoCompute
bool has_fallback_search(const SimPlan& plan, const SimRow& row);

/// Returns a sentence about the releases of NCCL whose times differ by more than 20 % for this
/// question, by the first and the last row. Returns an empty text if none differs, or if checking would take long: more
/// than 128 ranks, or rows whose simulation took more than 0.1 s. So the text may depend on the speed of this machine.
/// Releases with equal choices are not simulated.
/// rows    simulated rows of the plan, at least one
/// errors  as simulate_call()
Result<std::string> release_spread_text(const SimPlan& plan, std::span<const SimRow> rows);

}  // namespace ringside::study
