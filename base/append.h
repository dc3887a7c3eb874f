#pragma once

#include <fmt/core.h>

#include <string>

namespace ringside {

/// Appends the formatted values to `text`.
void append_values(std::string& text, fmt::string_view format, fmt::format_args values);

/// Appends fmt::format() of the arguments to `text`. It replaces fmt::format_to(back_inserter),
/// which compiles fmt's number formatting into each calling file: 3 s each.
template <typename... T>
void append(std::string& text, fmt::format_string<T...> format, T&&... values) {
  append_values(text, format, fmt::make_format_args(values...));
}

}  // namespace ringside
