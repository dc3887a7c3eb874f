#pragma once

#include <span>
#include <string_view>

#include "diag/logparse/cursor.h"
#include "diag/logparse/wrappers.h"

namespace ringside::logs {

/// A row of prefixes.def.
struct PrefixRow {
  std::string_view pattern, sample, keys;
};

std::span<const PrefixRow> prefix_rows();

/// Consumes the prefix of the first row that matches at the cursor and stores its values in `wrapping`. Returns false
/// and consumes nothing if no row matches.
bool take_prefix_row(Cursor& cursor, Wrapping& wrapping);

}  // namespace ringside::logs
