#pragma once

#include <fmt/core.h>

#include <string>

namespace ringside {

/// Adds the formatted values behind `text`.
void append_values(std::string& text, fmt::string_view format, fmt::format_args values);

/// Adds to `text` what fmt::format would have given. In place of fmt::format_to(back_inserter), which
/// compiles all of fmt's printing of numbers into each file that calls it: 3 s each.
template <typename... T>
void append(std::string& text, fmt::format_string<T...> format, T&&... values) {
  append_values(text, format, fmt::make_format_args(values...));
}

}  // namespace ringside
