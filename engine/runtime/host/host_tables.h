#pragma once

#include <span>
#include <string_view>

namespace ringside {

/// A built-in data file: its text, and its name without folder and extension.
struct EmbeddedHostTable {
  std::string_view name;
  std::string_view text;
};

/// data/*.yaml, embedded at build time.
extern const std::span<const EmbeddedHostTable> kHostTables;

}  // namespace ringside
