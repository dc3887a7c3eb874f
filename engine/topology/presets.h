#pragma once

#include <span>
#include <string_view>

namespace ringside {

/// A description that comes with the library: the text of a file, and its name without the folder.
struct Preset {
  std::string_view name;
  std::string_view text;
};

/// The hosts, in alphabetical order, read by host_yaml.h: presets/<name>.yaml, embedded at build time so
/// that no data folder is needed.
extern const std::span<const Preset> kHostPresets;

}  // namespace ringside
