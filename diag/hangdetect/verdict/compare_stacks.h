#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/verdict.h"

/// Compares the stack of a culprit with those of the other ranks: stacks of the processes, else the frames of the calls
/// that their dumps show as pending.
namespace ringside::hang {

/// The frames at which two stacks part, followed from the outermost frame on.
struct Parting {
  std::vector<int> ranks;   ///< the culprits with this stack, ascending
  Frame frame;              ///< theirs
  std::vector<int> others;  ///< most other ranks, ascending
  Frame other_frame;        ///< theirs
};

/// The stack of a culprit next to those of other ranks.
struct ComparedStacks {
  std::vector<int> others;         ///< the other ranks with a stack, ascending
  bool are_equal = false;          ///< most of them have the culprit's stack
  std::optional<Parting> parting;  ///< nothing: most of them do not part from it at one place
};

/// A culprit that is not in a call is compared by the stack that the explanation shows.
/// returns  nothing: no stack of a culprit, or none of another rank
std::optional<ComparedStacks> compare_stacks(const Explanation& one, const Job& job,
                                             const LogFacts& logs);

/// Returns whose stack the explanation shows: `rank 3`, `process 71`, `rank 1 at its last call, all_reduce 19 of
/// default_pg, which has ended`; empty: unknown.
std::string owner_of_stack(const Explanation& one, const Job& job, const LogFacts& logs);

}  // namespace ringside::hang
