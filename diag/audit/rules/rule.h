#pragma once

#include "diag/audit/findings.h"

namespace ringside::audit {

#define RINGSIDE_RULE(look, reference) void look(const JobFacts& facts, Findings& findings);
#include "diag/audit/rules/rules.def"

/// A known fault of a release in use (releases.def).
struct KnownFault {
  std::string title;  ///< `a known fault of NCCL 2.25.1, fixed in 2.26.2`; empty: none is known
  std::string fix;    ///< a clause or two; may be empty
};

/// The known fault of a release that the text names, if it explains lines of that reason.
KnownFault known_fault(const JobFacts& facts, PlainLine line);

/// Removes findings that other lines of the text refute, and makes confirmed ones precise. Drops advice that the text
/// already answers: commands whose output is there, variables that a plugin sets itself. Lists evidence that would
/// decide a finding and is not in the text. Runs after all other rules.
void weigh_against_text(const JobFacts& facts, Findings& findings);

/// Replaces NVIDIA's tools in advice on AMD's GPUs; rules write NVIDIA's.
void say_for_vendor(const JobFacts& facts, Finding& finding);

/// Puts findings below the finding that they follow from, and sorts the rest: worst first, causes of failures before
/// losses of speed.
///
/// returns  first causes, each directly before its consequences; caused_by is set
/// source   docs/formats 9.10
std::vector<Finding> order_by_cause(std::vector<Finding> findings);

}  // namespace ringside::audit
