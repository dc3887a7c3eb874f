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

/// Rewrites the advice for the job's hardware. Rules write NVIDIA's tools, which become AMD's if the job uses RCCL or ROCm;
/// variables of Slingshot are omitted on other fabrics.
void name_tools_of_vendor(const JobFacts& facts, Finding& finding);

/// Sorts findings: each consequence after its cause, first causes by the severity of their worst consequence, failures
/// before slowdowns. A severity that is changed afterwards needs another call.
///
/// returns  the first causes, each directly before its consequences, with caused_by set anew
/// source   docs/formats 9.10
std::vector<Finding> order_by_cause(std::vector<Finding> findings);

}  // namespace ringside::audit
