#pragma once

#include <fmt/core.h>

namespace ringside {

/// Prints what was broken and where to stderr, then ends the process with abort().
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const std::string& text);

}  // namespace ringside

/// An invariant of ours: alive in every build. RINGSIDE_ASSERT(r < n, "rank {} of {}", r, n);
#define RINGSIDE_ASSERT(condition, ...) \
  (static_cast<bool>(condition)         \
       ? static_cast<void>(0)           \
       : ::ringside::assertion_failed(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)))
