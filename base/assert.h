#pragma once

#include <fmt/core.h>

namespace ringside {

/// Prints what was broken and where to stderr, then ends the process with abort().
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   fmt::string_view format, fmt::format_args values);

/// A function of its own, so that an assertion that holds costs one test at its place.
template <typename... T>
[[noreturn, gnu::cold, gnu::noinline]] void assertion_failed_with(const char* condition,
                                                                  const char* file, int line,
                                                                  fmt::format_string<T...> format,
                                                                  const T&... values) {
  assertion_failed(condition, file, line, format, fmt::make_format_args(values...));
}

}  // namespace ringside

/// An invariant of ours: alive in every build. RINGSIDE_ASSERT(r < n, "rank {} of {}", r, n);
#define RINGSIDE_ASSERT(condition, ...) \
  (static_cast<bool>(condition)         \
       ? static_cast<void>(0)           \
       : ::ringside::assertion_failed_with(#condition, __FILE__, __LINE__, __VA_ARGS__))
