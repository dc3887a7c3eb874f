#pragma once

#include <string>
#include <vector>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/verdict/verdict.h"

/// Names of calls and ranks, as evidence and reports print them.
namespace ringside::hang {

/// `all_reduce 12 of default_pg`
std::string call_title(const Job& job, int group, const Call& call);
/// `all_reduce([[190]] Float)`
std::string call_text(const Signature& signature);
/// The stack of the rank's newest call, without frames that only wrap.
Stack last_stack(const Job& job, int rank);
/// The rank's call as evidence.
Evidence evidence_of(const Job& job, int rank, const Call& call, std::string text);
/// Ascending ranks in short form: `0-3,7`; four and more at one distance, as the groups of a pipeline are, `0-56:8`
/// for 0, 8, .. 56, as taskset and Slurm write it.
std::string fold_ranks(const std::vector<int>& ranks);

/// Whether a rank has left a dump of its own; dumps made from log lines and ncclras reports do not count.
bool has_dumps(const Job& job);

}  // namespace ringside::hang
