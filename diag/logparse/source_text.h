#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::logs {

/// Returns whether a line is source code or configuration (Python, shell, C, a container description), which is no
/// evidence of a run although it mentions the communication stack.
///
/// text  without blanks at its ends. The caller must exclude source lines that a traceback quotes
bool is_source_line(std::string_view text);

/// Returns, for each line, whether it is source code or a row of an explanatory table. A table is recognised by its
/// header or by a variable at the start of a row, a fenced block of source by most of its lines.
///
/// lines    without decoration
/// dressed  the same lines with fences and table bars, but without colours and quotation marks
std::vector<bool> source_lines(const std::vector<std::string>& lines,
                               const std::vector<std::string>& dressed);

}  // namespace ringside::logs
