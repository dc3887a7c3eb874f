#pragma once

#include <string>

#include "base/json.h"
#include "study/explain/explanation.h"

namespace ringside::cli {

/// Returns text for people, at most 100 columns wide: the predicted times by size with the fastest
/// marked, the choice, and the sizes from which each combination wins, with the reason.
/// question  printed in the first line
/// colour    the marks are bold as well
std::string explanation_text(const study::Explanation& explanation,
                             const study::ExplainQuestion& question, bool colour);

/// Returns two explanations side by side.
std::string comparison_text(const study::Explanation& before, const study::Explanation& after,
                            bool colour);

/// Returns a "ringside.explain/1" document: `table`, `choices`, `crossovers`; with a `before` also
/// `compared`.
Json explanation_document(const study::Explained& explained);

}  // namespace ringside::cli
