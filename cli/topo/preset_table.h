#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "study/preset_facts.h"

namespace ringside::cli {

/// Returns one row per preset, at most 100 columns wide.
std::string preset_table(const std::vector<study::PresetFacts>& presets);

/// `presets` of ringside.presets/1
Json presets_document(const std::vector<study::PresetFacts>& presets);

}  // namespace ringside::cli
