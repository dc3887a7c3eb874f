#pragma once

#include <cstddef>
#include <string_view>

namespace ringside::logs {

/// Returns the offset of the first `sought` at or after `from`, or npos. Faster than string_view::find if the first
/// character is common, because it compares the first and last characters at many offsets at once.
/// shape  sought has two characters or more
std::size_t find_text(std::string_view text, std::string_view sought, std::size_t from = 0);

}  // namespace ringside::logs
