#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::logs {

/// A line that a person wrote for a machine and no program printed: of Python, a shell, C, a container's description. It
/// uses the words of the stack, and tells nothing of a run.
///
/// shape  without blanks at its ends; the line of a source that a traceback quotes looks alike: who asks knows where
///        that stands
bool is_source_line(std::string_view text);

/// Lines of a text that are source, or rows of a table that explains: of a table by its header, or by the variable that
/// a row begins with, and of a fenced block by most of its lines.
///
/// lines    without what was put around them
/// dressed  the same lines as they stand, but for colours and quotation marks: their fences and tables' bars are there
/// returns  one for each
std::vector<bool> source_lines(const std::vector<std::string>& lines,
                               const std::vector<std::string>& dressed);

}  // namespace ringside::logs
