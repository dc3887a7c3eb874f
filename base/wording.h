#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

/// Text for people: counts, lists, and cut or wrapped text.
namespace ringside {

/// Returns a count with its noun: "1 rank", "3 ranks".
std::string plural(std::size_t count, std::string_view one, std::string_view many);

/// Returns a list with at most some items: `a, b, c and 4 more`.
std::string list_of(std::span<const std::string> names, std::size_t most = 4);

/// Cuts the text to `width` columns, at least 8; a longer text ends in `...`. Each character of UTF-8 counts as a column.
std::string cut(std::string_view text, int width);

/// Wraps the text at blanks to `width` columns, counted as in cut(): the first line begins with `first`, the others with
/// `rest`; each ends in a newline. A longer word stays whole.
std::string wrap(std::string_view text, std::string_view first, std::string_view rest, int width);

}  // namespace ringside
