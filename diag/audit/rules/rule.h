#pragma once

#include "diag/audit/findings.h"

namespace ringside::audit {

#define RINGSIDE_RULE(look, reference) void look(const JobFacts& facts, Findings& findings);
#include "diag/audit/rules/rules.def"

/// A fault that a release in use is known for (releases.def).
struct KnownFault {
  std::string title;  ///< `a known fault of NCCL 2.25.1, fixed in 2.26.2`; empty: none is known
  std::string fix;    ///< a clause or two; may be empty
};

/// Whether lines of that reason are a known fault of a release that the text names.
KnownFault known_fault(const JobFacts& facts, PlainLine line);

/// Takes back what other lines of the text refute, names what they make certain, and drops advice that the text has
/// already answered: commands whose output is there, variables that a plugin sets itself. Says what would decide a
/// finding and is not in the text. Runs behind all other rules.
void weigh_against_text(const JobFacts& facts, Findings& findings);

/// Rules write their advice for the tools of NVIDIA's; on AMD's GPUs others answer the same question.
void say_for_vendor(const JobFacts& facts, Finding& finding);

/// Puts findings that follow from another one under it, and the rest in order: worst first, causes of
/// failures before losses of speed.
///
/// returns  first causes, each directly before what follows from it; caused_by set
/// source   docs/formats 9.10
std::vector<Finding> order_by_cause(std::vector<Finding> findings);

}  // namespace ringside::audit
