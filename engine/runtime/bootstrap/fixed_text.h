#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

/// Texts in messages of fixed length, which ranks exchange by Bootstrap::all_gather().
namespace ringside {

/// Stores the text, with a 0 at its end. A text that does not fit is truncated.
template <std::size_t N>
void put_text(std::array<char, N>& field, std::string_view text) {
  field.fill(0);
  std::memcpy(field.data(), text.data(), std::min(text.size(), N - 1));
}

/// Returns the text of a field, which may come from another process: it ends at the first 0, or with the field.
template <std::size_t N>
std::string text_of(const std::array<char, N>& field) {
  return {field.begin(), std::ranges::find(field, '\0')};
}

}  // namespace ringside
