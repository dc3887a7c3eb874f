#pragma once

#include <string>
#include <string_view>

namespace ringside::logs {

/// Without escape sequences of a terminal, other control characters, and what typesetting has made of it.
std::string without_colours(std::string_view line);

}  // namespace ringside::logs
