#pragma once

#include <string_view>

#include "engine/topology/presets.h"

namespace ringside {

/// Finds a preset by its name, or by a part between hyphens that no other preset has: gb200 is gb200-nvl72.
/// returns  null: there is none, or several have that part
const Preset* find_preset(std::string_view word);

}  // namespace ringside
