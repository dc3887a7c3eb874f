#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringside::logs {

/// Returns whether the first eight characters of both lines are equal up to their digits, such as those of two steps of
/// a progress bar. A shorter line begins like no other.
bool begin_alike(std::string_view a, std::string_view b);

/// Joins a wrapped one-line stack (frame_line.h) with its next line, if more frames have a source location afterwards.
///
/// is_full      the line is full: the next word of `next` would not have fitted
/// is_terminal  a terminal wrapped the line, which can split words
/// returns      nothing if `next` does not continue the stack
std::optional<std::string> joined_stack(std::string_view line, std::string_view next, bool is_full,
                                        bool is_terminal);

}  // namespace ringside::logs
