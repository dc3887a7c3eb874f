#pragma once

#include <span>
#include <string>

#include "study/simulation.h"

namespace ringside::study {

/// Whether the search for the channels that the call uses fell back to 0.1 GB/s, as NCCL's does where it finds none: times of its
/// own model mean nothing then.
/// source  NCCL 2.30.7 graph/search.cc: ncclTopoCompute
bool has_fallback_search(const SimPlan& plan, const SimRow& row);

/// Where releases of NCCL differ by more than 20 % for what is asked: one sentence that names them. Empty: they do not, or it
/// would take long to find out. Releases that choose alike are not simulated.
/// rows    of the plan, simulated
/// errors  as simulate_call()
Result<std::string> release_spread_text(const SimPlan& plan, std::span<const SimRow> rows);

}  // namespace ringside::study
