#pragma once

#include <vector>

#include "cli/verb.h"
#include "study/what_if.h"

namespace ringside::cli {

/// Simulates the variants and prints each one compared with the base, as a table or a document.
/// base      what the user asked for
/// variants  of the base, which comes first
/// returns   kFinding: a variant could not be simulated
/// errors    as plan_variants() and simulate_variant()
VerbResult run_variants(const study::SimQuestion& base, std::vector<study::Variant> variants,
                        bool is_json);

}  // namespace ringside::cli
