#pragma once

#include <span>
#include <string_view>

namespace ringside {

/// A node type that comes with the library: the text of presets/<name>.yaml.
struct NodePreset {
  std::string_view name;
  std::string_view text;
};

/// All of them, in alphabetical order; embedded at build time, so that no data folder is needed.
extern const std::span<const NodePreset> kNodePresets;

}  // namespace ringside
