#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/verdict.h"

/// Turns an Explanation into English sentences. All reports use these functions.
namespace ringside::hang {

/// Returns the conclusion as a sentence, then the evidence.
std::string why_of(const Explanation& one);

/// Returns the details, one line each: the ranks' calls, positions, and the ranks for which they wait.
std::vector<std::string> details_of(const Explanation& one);

/// Returns the inputs that would increase the confidence, one line each.
/// job  inputs that it already has are omitted; nullptr: none are
std::vector<std::string> missing_of(const Explanation& one, const Job* job = nullptr);

/// Returns the first thing to do, with a command if there is one; empty if there is no advice.
std::string next_of(const Explanation& one, const Job& job, const LogFacts& logs);

/// Returns the reason why `other` ranks below `best`.
std::string against_of(const Explanation& best, const Explanation& other);

/// Returns the command that explains this kind of hang.
std::string reference_of(Kind kind);

/// Returns ranks in short form: `rank 3`, `ranks 0-3,7`; `no rank` for none.
std::string ranks_text(const std::vector<int>& ranks);
/// Returns the ranks with the singular or plural verb: `rank 3 waits`, `ranks 0-3,7 wait`.
std::string ranks_that(const std::vector<int>& ranks, std::string_view one, std::string_view many);

}  // namespace ringside::hang
