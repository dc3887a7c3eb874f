#pragma once

#include <fmt/core.h>

namespace ringside {

/// Prints the broken invariant and its place to stderr, then calls abort().
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   fmt::string_view format, fmt::format_args values);

/// A separate function, so that a true assertion costs only the test.
template <typename... T>
[[noreturn, gnu::cold, gnu::noinline]] void assertion_failed_with(const char* condition,
                                                                  const char* file, int line,
                                                                  fmt::format_string<T...> format,
                                                                  const T&... values) {
  assertion_failed(condition, file, line, format, fmt::make_format_args(values...));
}

}  // namespace ringside

/// Checks an invariant in every build. RINGSIDE_ASSERT(r < n, "rank {} of {}", r, n);
#define RINGSIDE_ASSERT(condition, ...) \
  (static_cast<bool>(condition)         \
       ? static_cast<void>(0)           \
       : ::ringside::assertion_failed_with(#condition, __FILE__, __LINE__, __VA_ARGS__))
