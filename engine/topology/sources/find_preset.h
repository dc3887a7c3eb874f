#pragma once

#include <string_view>

#include "engine/topology/presets.h"

namespace ringside {

/// A preset by its name, or by a part of it between hyphens that no other preset has: gb200 is gb200-nvl72.
/// returns  null: there is none, or several have that part
const Preset* find_preset(std::string_view word);

}  // namespace ringside
