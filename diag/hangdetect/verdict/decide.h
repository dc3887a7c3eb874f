#pragma once

#include <optional>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// Whether the number of ranks is more than the highest that was heard of, so that silence says something: there are
/// dumps, which ranks write that are told to, or a line says how many ranks there are.
bool is_world_known(const Job& job, const LogFacts& facts);

/// The verdict on a job, and what else was weighed.
///
/// First: does it stand at all? A job that moved while it was written down is not accused. Then every
/// cause that the rules of collectives allow is looked for, each with its confidence; those whose
/// evidence is incomplete stay below 0.8 and say what is missing.
/// `facts` are what the logs say beside it; a job may consist of them alone.
Verdict decide(const Job& job, const LogFacts& facts);

/// The surest mismatch between the calls of a job that is made of COLL lines. They do not tell what ended,
/// so every call is compared: in each group the first in which members differ counts.
///
/// returns  nothing where all calls agree
/// source   docs/formats 3.1
std::optional<Explanation> explain_lines(const Job& lines);

}  // namespace ringside::hang
