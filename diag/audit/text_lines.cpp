#include "diag/audit/text_lines.h"

#include <algorithm>

namespace ringside::audit {
namespace {

bool is_inner_byte(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

}  // namespace

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
    if (!is_empty && static_cast<int>(line.size() + 1 + word.size()) > width) {
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

}  // namespace ringside::audit
