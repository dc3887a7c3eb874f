#include "engine/debuglog/cpu_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ringside {
namespace {

/// Returns the processors, lowest first; empty if the text is not a mask.
std::vector<bool> bits_of(std::string_view mask) {
  std::vector<bool> bits;
  for (auto digit = mask.rbegin(); digit != mask.rend(); ++digit) {
    if (*digit == ',') continue;
    const std::string_view digits = "0123456789abcdef";
    const std::size_t value = digits.find(*digit);
    if (value == std::string_view::npos) return {};
    for (unsigned bit = 0; bit < 4; ++bit) bits.push_back(((value >> bit) & 1U) != 0);
  }
  return bits;
}

}  // namespace

std::string cpu_list(std::string_view mask) {
  const std::vector<bool> bits = bits_of(mask);
  if (bits.empty()) return std::string{mask};
  std::string list;
  for (auto begin = std::ranges::find(bits, true); begin != bits.end();) {
    const auto end = std::find(begin, bits.end(), false);
    const auto first = begin - bits.begin();
    const auto last = end - bits.begin() - 1;
    if (!list.empty()) list += ',';
    list += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    begin = std::find(end, bits.end(), true);
  }
  return list;
}

}  // namespace ringside
