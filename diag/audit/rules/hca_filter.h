#pragma once

#include "diag/audit/findings.h"

namespace ringside::audit {

/// Who names devices expects some: a filter that lets none through is a slip, wherever the job may run.
void find_empty_filter(const JobFacts& facts, Findings& findings);

}  // namespace ringside::audit
