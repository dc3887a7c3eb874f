#pragma once

#include <string>
#include <vector>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/verdict/verdict.h"

/// Names of calls and ranks, as evidence and reports print them.
namespace ringside::hang {

/// Returns a call's operation, number and group: `all_reduce 12 of default_pg`.
std::string call_title(const Job& job, int group, const Call& call);
/// Returns a call's operation, shape and type: `all_reduce([[190]] Float)`.
std::string call_text(const Signature& signature);
/// Returns the stack of the rank's newest call without wrapper frames.
Stack last_stack(const Job& job, int rank);
/// Returns evidence that quotes a rank's call; `text` is the quoted text.
Evidence evidence_of(const Job& job, int rank, const Call& call, std::string text);
/// Returns ascending ranks in short form: `0-3,7`. Four or more ranks with a constant stride become `0-56:8`, for 0, 8,
/// .. 56, as taskset and Slurm write them.
std::string fold_ranks(const std::vector<int>& ranks);

/// Returns whether any rank wrote a dump. Dumps made from log lines or ncclras reports do not count.
bool has_dumps(const Job& job);

}  // namespace ringside::hang
