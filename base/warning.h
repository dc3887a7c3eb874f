#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// The place in the source that reports a warning.
struct WarningPlace {
  std::string_view file;  ///< path relative to the tree's root
  int line = 0;
  std::string_view function;
};

/// Reports an event that no function can return as an Error, such as an unknown client at a port. Writes it to stderr,
/// unless a handler is set.
///
/// text     one line, without a newline
/// Threads  any
void report_warning(const WarningPlace& place, const std::string& text);

using WarningHandler = void (*)(const WarningPlace& place, const std::string& text);

/// Sets the function that receives all further warnings of this process, instead of stderr.
void set_warning_handler(WarningHandler handler);

}  // namespace ringside
