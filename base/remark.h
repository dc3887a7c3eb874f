#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// Where in this source a remark comes from.
struct RemarkPlace {
  std::string_view file;  ///< from the tree's root on
  int line = 0;
  std::string_view function;
};

/// Reports an event that no caller can get as an Error, such as a stranger at a port. One line without its end.
/// Goes to stderr, unless a taker is set.
///
/// Threads   any
void remark(const RemarkPlace& place, const std::string& text);

/// The function that gets all remarks of this process from now on.
using RemarkTaker = void (*)(const RemarkPlace& place, const std::string& text);
void take_remarks(RemarkTaker taker);

}  // namespace ringside
