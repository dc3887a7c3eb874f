#pragma once

#include "diag/audit/findings.h"

namespace ringside::audit {

#define RINGSIDE_RULE(look, reference) void look(const JobFacts& facts, Findings& findings);
#include "diag/audit/rules/rules.def"

/// A known bug of a release in use (releases.def).
struct KnownFault {
  std::string title;  ///< `a known fault of NCCL 2.25.1, fixed in 2.26.2`; empty: none is known
  std::string fix;    ///< what to do; may be empty
};

/// Returns the known bug of a release in the logs that explains lines of this type; an empty title if there is none.
KnownFault known_fault(const JobFacts& facts, PlainLine line);

/// Revises the findings of all other rules, so it runs last. Removes findings that other lines refute, and adds details
/// to confirmed ones. Removes advice that the text already answers: commands whose output is present, variables that a
/// plugin sets itself. Lists missing inputs that would decide a finding.
void weigh_against_text(const JobFacts& facts, Findings& findings);

/// Replaces NVIDIA's tools in the advice if the job has AMD GPUs. Rules write NVIDIA's tools.
void say_for_vendor(const JobFacts& facts, Finding& finding);

/// Sorts findings: each consequence after its cause, first causes by severity, failures before slowdowns.
///
/// returns  the first causes, each directly before its consequences, with caused_by set
/// source   docs/formats 9.10
std::vector<Finding> order_by_cause(std::vector<Finding> findings);

}  // namespace ringside::audit
