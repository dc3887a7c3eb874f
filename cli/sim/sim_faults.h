#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "study/scenario/faulty_calls.h"

/// Formats the results of `sim --fault`.
namespace ringside::cli {

/// Returns a table of the sizes without and with the faults, the outcome, and the faults that never
/// fired.
std::string faulty_text(const study::SimPlan& plan, const std::vector<study::SimRow>& rows,
                        const study::FaultyJob& job, const study::FaultQuestion& question);

/// Adds `faults`, `fault_seed`, `outcome`, `verdict`, `notes` and `dumps`, and to each result `under_faults`.
void add_faults(Json& document, const study::FaultyJob& job, const study::FaultQuestion& question);

}  // namespace ringside::cli
