#include "base/wording.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringside {
namespace {

/// Returns whether the byte continues a character of UTF-8.
bool is_inner_byte(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

int columns_of(std::string_view text) {
  return static_cast<int>(text.size()) -
         static_cast<int>(std::ranges::count_if(text, is_inner_byte));
}

}  // namespace

std::string plural(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string list_of(std::span<const std::string> names, std::size_t most) {
  const std::size_t shown = std::min(most, names.size());
  std::string text = fmt::format("{}", fmt::join(names.first(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string cut(std::string_view text, int width) {
  const auto most = static_cast<std::size_t>(std::max(width, 8));
  std::size_t columns = 0, end = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_inner_byte(text[i])) continue;
    if (columns == most - 3) end = i;
    if (++columns > most) return std::string(text.substr(0, end)) + "...";
  }
  return std::string(text);
}

std::string wrap(std::string_view text, std::string_view first, std::string_view rest, int width) {
  std::string out, line(first);
  bool is_empty = true;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (!is_empty && columns_of(line) + 1 + columns_of(word) > width) {
      out += line + "\n";
      line = rest;
      is_empty = true;
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
  }
  return out + line + "\n";
}

}  // namespace ringside
