#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace ringside {

constexpr bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
constexpr bool contains(std::string_view text, char part) {
  return text.find(part) != std::string_view::npos;
}

/// Both return true if the text contains, or begins with, one of the parts.
/// shape  parts: a range of texts
template <typename Parts = std::initializer_list<std::string_view>>
constexpr bool contains_any(std::string_view text, const Parts& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return contains(text, part); });
}

template <typename Parts = std::initializer_list<std::string_view>>
constexpr bool starts_with_any(std::string_view text, const Parts& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.starts_with(part); });
}

}  // namespace ringside
