#include "diag/hangdetect/readers/paste_text.h"

#include <algorithm>
#include <utility>

#include "diag/logparse/paste.h"

namespace ringside::hang {

std::vector<PasteLine> read_paste(std::string_view text) {
  std::vector<PasteLine> lines;
  bool follows_blank = false;
  for (logs::RestoredLine& restored : logs::restore_paste(text)) {
    if (restored.is_gap) {
      follows_blank |= !restored.text.starts_with('.');
      continue;
    }
    std::string& own = restored.text;
    std::replace(own.begin(), own.end(), '\t', ' ');
    own.erase(own.find_last_not_of(' ') + 1);
    own.erase(0, std::min(own.find_first_not_of(' '), own.size()));
    lines.push_back({std::int64_t{restored.number} + 1, follows_blank, std::move(restored.stamp),
                     std::move(own), std::move(restored.host), restored.rank});
    follows_blank = false;
  }
  return lines;
}

std::string as_utf8(std::string text) {
  const bool is_little = text.starts_with("\xff\xfe");
  if (!is_little && !text.starts_with("\xfe\xff")) return text;
  const auto unit_at = [&](std::size_t at) {
    const auto low = static_cast<unsigned char>(text[at + (is_little ? 0 : 1)]);
    const auto high = static_cast<unsigned char>(text[at + (is_little ? 1 : 0)]);
    return static_cast<std::uint32_t>(high) << 8U | low;
  };
  std::string out;
  out.reserve(text.size());
  const auto put = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
  for (std::size_t at = 2; at + 1 < text.size(); at += 2) {
    std::uint32_t code = unit_at(at);
    const bool is_high = code >= 0xD800 && code < 0xDC00;
    if (is_high && at + 3 < text.size()) {
      const std::uint32_t low = unit_at(at + 2);
      if (low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
        at += 2;
      }
    }
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0 | code >> 6U);
      put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      put(0xE0 | code >> 12U);
      put(0x80 | (code >> 6U & 0x3F));
      put(0x80 | (code & 0x3F));
    } else {
      put(0xF0 | code >> 18U);
      put(0x80 | (code >> 12U & 0x3F));
      put(0x80 | (code >> 6U & 0x3F));
      put(0x80 | (code & 0x3F));
    }
  }
  return out;
}

bool is_paste(std::string_view text) {
  return !logs::is_as_written(text) && !text.starts_with("\x1f\x8b") &&
         !text.starts_with("\x28\xb5\x2f\xfd") && text.find('\0') == std::string_view::npos;
}

}  // namespace ringside::hang
