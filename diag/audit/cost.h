#pragma once

#include <string>

#include "diag/audit/audit.h"

namespace ringside::audit {

/// What the engine says of the job: Finding::cost of findings on transports, BenchmarkTable's expectation.
///
/// cluster  the hosts, as --on takes them; empty: what the logs tell (expected_job())
/// returns  what was taken for the hosts, or why nothing could be said
Result<std::string> add_costs(Audit& audit, const std::string& cluster);

}  // namespace ringside::audit
