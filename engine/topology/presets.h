#pragma once

#include <span>
#include <string_view>

namespace ringside {

/// A description that comes with the library: the text of a file, and its name without the folder.
struct Preset {
  std::string_view name;
  std::string_view text;
};

/// All of a kind, in alphabetical order; embedded at build time, so that no data folder is needed.
extern const std::span<const Preset> kHostPresets;  ///< presets/<name>.yaml, read by host_yaml.h
extern const std::span<const Preset> kNodePresets;  ///< presets/nodes/<name>.yaml, by node_type.h

}  // namespace ringside
