#pragma once

#include <string>

#include "base/json.h"
#include "study/profile.h"

namespace ringside::cli {

/// Returns text about the time of a simulated call: busy links over time, terms, phases, the
/// longest legs.
std::string profile_text(const study::Profile& profile);

/// Returns the same as JSON, with every leg of the critical path.
Json profile_document(const study::Profile& profile);

/// Draws the profile as an SVG document: links over time above, the critical path below, coloured
/// by term.
std::string profile_svg(const std::string& title, const study::Profile& profile);

}  // namespace ringside::cli
