#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// Returns text escaped for HTML, XML or SVG, between tags or in double quotes: `&`, `<`, `>` and `"` are escaped,
/// control characters other than tab and newline become blanks.
std::string escaped_markup(std::string_view text);

}  // namespace ringside
