#pragma once

#include <span>
#include <string_view>

namespace ringside {

/// A built-in data file: its text, and its name without folder and extension.
struct EmbeddedRelease {
  std::string_view name;
  std::string_view text;
};

/// The files data/*.yaml, in alphabetical order; embedded at build time.
extern const std::span<const EmbeddedRelease> kReleaseData;

}  // namespace ringside
