#pragma once

#include <span>
#include <string_view>

namespace ringside {

/// A data file that comes with the library: its text, and its name without folder and ending.
struct EmbeddedHostTable {
  std::string_view name;
  std::string_view text;
};

/// data/*.yaml, embedded at build time.
extern const std::span<const EmbeddedHostTable> kHostTables;

}  // namespace ringside
