#pragma once

#include <string>

#include "base/json.h"
#include "study/explain/explanation.h"

namespace ringside::cli {

/// For people, in at most 100 columns: the predicted times by size with the fastest marked, what was
/// chosen, and where each combination begins to win and why.
/// question  printed in the first line
/// colour    the marks are bold as well
std::string explanation_text(const study::Explanation& explanation,
                             const study::ExplainQuestion& question, bool colour);

/// Two explanations side by side.
std::string comparison_text(const study::Explanation& before, const study::Explanation& after,
                            bool colour);

/// "ringside.explain/1": `table`, `choices`, `crossovers`; with a `before` also `compared`.
Json explanation_document(const study::Explained& explained);

}  // namespace ringside::cli
