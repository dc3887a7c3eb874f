#pragma once

#include <string>

#include "base/json.h"
#include "cli/explanation.h"

namespace ringside::cli {

/// For people, in at most 100 columns: the predicted times by size with the fastest marked, what was
/// chosen, and where each combination begins to win and why.
/// head    what the job is; the first line
/// colour  the marks are bold as well
std::string explanation_text(const Explanation& explanation, const std::string& head, bool colour);

/// Two explanations side by side.
std::string comparison_text(const Explanation& before, const Explanation& after, bool colour);

/// "ringside.explain/1": `table`, `choices`, `crossovers`, of `after`; with a `before` also `compared`.
Json explanation_document(const Explanation& after, const Explanation* before);

}  // namespace ringside::cli
