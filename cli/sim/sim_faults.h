#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "study/scenario/faulty_calls.h"

/// What `sim --fault` prints.
namespace ringside::cli {

/// A table of the sizes, undisturbed and under the faults; how it ended; what came to nothing.
std::string faulty_text(const study::SimPlan& plan, const std::vector<study::SimRow>& rows,
                        const study::FaultyJob& job, const study::FaultQuestion& question);

/// Adds `faults`, `outcome`, `verdict`, `notes` and `dumps`, and to each result `under_faults`.
void add_faults(Json& document, const study::FaultyJob& job, const study::FaultQuestion& question);

}  // namespace ringside::cli
