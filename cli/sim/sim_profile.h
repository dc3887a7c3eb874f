#pragma once

#include <string>

#include "base/json.h"
#include "study/profile.h"

namespace ringside::cli {

/// Where the time of a simulated call went: busy links over time, terms, phases, the longest legs.
std::string profile_text(const study::Profile& profile);

/// The same, and every leg of the critical path.
Json profile_document(const study::Profile& profile);

/// The profile as an SVG document: links over time above, the critical path below, by the terms of its time.
std::string profile_svg(const std::string& title, const study::Profile& profile);

}  // namespace ringside::cli
