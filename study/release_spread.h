#pragma once

#include <span>
#include <string>

#include "study/simulation.h"

namespace ringside::study {

/// Whether the search for the call's channels fell back to 0.1 GB/s, as NCCL's does if it finds none: then the times
/// of its own model mean nothing.
/// source  NCCL 2.30.7 graph/search.cc: ncclTopoCompute
bool has_fallback_search(const SimPlan& plan, const SimRow& row);

/// A sentence that names releases of NCCL which differ by more than 20 % for this question. Empty: they do not, or
/// checking would take long. Releases with the same choices are not simulated.
/// rows    of the plan, simulated
/// errors  as simulate_call()
Result<std::string> release_spread_text(const SimPlan& plan, std::span<const SimRow> rows);

}  // namespace ringside::study
