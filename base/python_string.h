#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// Returns a string literal of Python 3 in double quotes. Its value is one_line(text), so that names and texts from
/// dumps stay data in a script, and on one line.
std::string python_string(std::string_view text);

}  // namespace ringside
