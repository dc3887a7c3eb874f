#include "engine/topology/sources/find_preset.h"

#include <algorithm>
#include <vector>

namespace ringside {
namespace {

/// Returns the parts of a name, separated by hyphens.
std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= name.size();) {
    const std::size_t end = std::min(name.find('-', from), name.size());
    parts.push_back(name.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

}  // namespace

const Preset* find_preset(std::string_view word) {
  const Preset* by_part = nullptr;
  int matches = 0;
  for (const Preset& preset : kHostPresets) {
    if (preset.name == word) return &preset;
    const auto parts = parts_of(preset.name);
    if (std::ranges::find(parts, word) == parts.end()) continue;
    by_part = &preset;
    ++matches;
  }
  return matches == 1 ? by_part : nullptr;
}

}  // namespace ringside
