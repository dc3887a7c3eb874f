#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// Foreign text (of a dump, a log or a peer) made safe to print or to write inside one line: a terminal, an editor and a reader
/// of the file all see one line of plain text.
///
/// returns  `text`, in which each byte of a line break, of another control character, of a mark that turns the direction
///          of writing, and each byte that is not UTF-8, is written as `\x0a`
std::string one_line(std::string_view text);

}  // namespace ringside
