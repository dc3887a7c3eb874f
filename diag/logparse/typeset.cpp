#include "diag/logparse/typeset.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace ringside::logs {
namespace {

/// What word processors, chats and web pages make of characters, and what stood there.
struct Typeset {
  std::string_view is, was;
};
constexpr std::array kTypeset = {
    Typeset{"\u2502", "|"},  Typeset{"\u00a0", " "},  Typeset{"\u2007", " "},
    Typeset{"\u202f", " "},  Typeset{"\u200b", ""},   Typeset{"\u200c", ""},
    Typeset{"\u200d", ""},   Typeset{"\u2060", ""},   Typeset{"\ufeff", ""},
    Typeset{"\u2018", "'"},  Typeset{"\u2019", "'"},  Typeset{"\u201c", "\""},
    Typeset{"\u201d", "\""}, Typeset{"&lt;", "<"},    Typeset{"&gt;", ">"},
    Typeset{"&amp;", "&"},   Typeset{"&quot;", "\""}, Typeset{"&#39;", "'"},
    Typeset{"&nbsp;", " "}};

const Typeset* typeset_at(std::string_view text) {
  const auto row = std::find_if(kTypeset.begin(), kTypeset.end(),
                                [&](const Typeset& one) { return text.starts_with(one.is); });
  return row == kTypeset.end() ? nullptr : &*row;
}

}  // namespace

std::string without_colours(std::string_view line) {
  const bool is_clean = std::none_of(line.begin(), line.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' || byte >= 127 || c == '&';
  });
  if (is_clean) return std::string(line);
  std::string clean;
  clean.reserve(line.size());
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const bool may_be_typeset = c == '\xc2' || c == '\xe2' || c == '\xef' || c == '&';
    if (const Typeset* set = may_be_typeset ? typeset_at(line.substr(at)) : nullptr) {
      clean += set->was;
      at += set->is.size() - 1;
      continue;
    }
    if (c == '\x1b') {
      if (at + 1 >= line.size() || line[at + 1] != '[') continue;
      at += 2;
      while (at < line.size() && !(line[at] >= '@' && line[at] <= '~')) ++at;
    } else if (static_cast<unsigned char>(c) >= ' ' || c == '\t') {
      if (c != 127) clean += c;
    }
  }
  return clean;
}

}  // namespace ringside::logs
