#pragma once

#include "diag/audit/findings.h"

namespace ringside::audit {

/// Takes back what other lines of the text refute, names what they make certain, and drops advice that the text has
/// already answered: commands whose output is there, variables that a plugin sets itself. Says what would decide a
/// finding and is not in the text. Runs behind all other rules.
void weigh_against_text(const JobFacts& facts, Findings& findings);

}  // namespace ringside::audit
