#pragma once

#include "sim/simulate.h"

namespace ringside {

/// simulate() in this very process, which must not have simulated before and should end soon after.
/// progress  where the number of steps done so far is left; may be null
Result<SimResult> run_engine(const SimRequest& request, volatile std::int64_t* progress);

}  // namespace ringside
