#pragma once

#include <cstddef>
#include <string_view>

namespace ringside::logs {

/// Where `sought` is in a text, at or after `from`; npos: nowhere. Like string_view::find, and several times as fast
/// where the first character is common: looks for the first and the last at many places at once.
/// shape  sought has two characters or more
std::size_t find_text(std::string_view text, std::string_view sought, std::size_t from = 0);

}  // namespace ringside::logs
