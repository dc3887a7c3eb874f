#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/verdict.h"

/// A verdict in plain English: the only place that turns an Explanation into sentences.
namespace ringside::hang {

/// The conclusion, as a person would say it aloud, then the evidence.
std::string why_of(const Explanation& one);

/// Details, a line each: ranks and their calls, which ranks wait for which, places.
std::vector<std::string> details_of(const Explanation& one);

/// What to collect to increase the confidence: a line each.
std::vector<std::string> missing_of(const Explanation& one);

/// The first thing to do, with a command where there is one. Empty where nothing would help.
std::string next_of(const Explanation& one, const Job& job, const LogFacts& logs);

/// Why another hypothesis ranks lower.
std::string against_of(const Explanation& best, const Explanation& other);

/// The sections and rules of docs/formats that describe how to recognise the kind.
const char* reference_of(Kind kind);

/// `rank 3`, `ranks 0-3,7`
std::string ranks_text(const std::vector<int>& ranks);
/// The ranks with a verb: `rank 3 waits`, `ranks 0-3,7 wait`.
std::string ranks_that(const std::vector<int>& ranks, std::string_view one, std::string_view many);

}  // namespace ringside::hang
