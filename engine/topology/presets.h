#pragma once

#include <span>
#include <string_view>

namespace ringside {

/// A built-in description: the text of a file, and its name without the folder.
struct Preset {
  std::string_view name;
  std::string_view text;
};

/// The built-in hosts, in alphabetical order, in the format of host_yaml.h: presets/<name>.yaml, embedded at build
/// time so that no data folder is needed.
extern const std::span<const Preset> kHostPresets;

}  // namespace ringside
