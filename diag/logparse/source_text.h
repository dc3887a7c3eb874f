#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::logs {

/// A line that a person wrote for a machine and no program printed: of Python, a shell, C, a container's description.
/// It uses the words of the stack, but is no evidence of a run.
///
/// shape  without blanks at its ends; the line of a source that a traceback quotes looks alike: the caller checks
///        that
bool is_source_line(std::string_view text);

/// Which lines of a text are source, or rows of a table that explains: a table by its header, or by the variable that
/// a row begins with, and a fenced block by most of its lines.
///
/// lines    without decoration
/// dressed  the same lines with their fences and tables' bars, but without colours and quotation marks
/// returns  one for each
std::vector<bool> source_lines(const std::vector<std::string>& lines,
                               const std::vector<std::string>& dressed);

}  // namespace ringside::logs
