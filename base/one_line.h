#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// Makes text from a dump, a log or a peer safe to print or to write inside one line: a terminal, an editor and a
/// reader of the file all see one line of plain text.
///
/// returns  `text`, with each byte of a line break, another control character, a mark that changes the direction of
///          writing, and invalid UTF-8 written as `\x0a`
std::string one_line(std::string_view text);

}  // namespace ringside
