#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// The place in the source that a remark comes from.
struct RemarkPlace {
  std::string_view file;  ///< path relative to the tree's root
  int line = 0;
  std::string_view function;
};

/// Reports an event that no caller can get as an Error, such as a stranger at a port. One line without its end.
/// Goes to stderr, unless a taker is set.
///
/// Threads   any
void remark(const RemarkPlace& place, const std::string& text);

/// Sets the function that receives all further remarks of this process.
using RemarkTaker = void (*)(const RemarkPlace& place, const std::string& text);
void take_remarks(RemarkTaker taker);

}  // namespace ringside
