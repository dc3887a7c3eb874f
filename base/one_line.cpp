#include "base/one_line.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace ringside {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t size = 0;  ///< in bytes; 0: the bytes are not UTF-8
};

/// Returns the first character of a text that is not empty.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(text[i])};
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  std::uint32_t code = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_half_of_pair = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[size] || code > 0x10FFFF || is_half_of_pair) return {};
  return {code, size};
}

bool is_plain(std::uint32_t code) {
  const bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool is_line_break = code == 0x2028 || code == 0x2029;
  const bool turns_direction = code == 0x061C || code == 0x200E || code == 0x200F ||
                               (code >= 0x202A && code <= 0x202E) ||
                               (code >= 0x2066 && code <= 0x2069);
  return !is_control && !is_line_break && !turns_direction && code != 0xFEFF;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const Character first = first_of(text);
    const std::string_view bytes = text.substr(0, first.size == 0 ? 1 : first.size);
    if (first.size > 0 && is_plain(first.code)) {
      line += bytes;
    } else {
      for (const char c : bytes) {
        fmt::format_to(std::back_inserter(line), "\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    text.remove_prefix(bytes.size());
  }
  return line;
}

}  // namespace ringside
