#pragma once

#include <string>
#include <string_view>

namespace ringside::audit {

/// At most `width` columns; what is longer ends in `...`. Counts characters, not bytes, of UTF-8.
std::string cut(std::string_view text, int width);

/// Broken at blanks: the first line begins with `first`, the others with `rest`; each ends in a newline.
std::string wrap(std::string_view text, std::string_view first, std::string_view rest, int width);

}  // namespace ringside::audit
