#pragma once

#include <string>
#include <string_view>

namespace ringside::logs {

/// Returns whether both lines begin with the same words, ignoring numbers, such as steps of a progress bar.
bool begin_alike(std::string_view a, std::string_view b);

/// Returns whether `next` continues a wrapped one-line stack (frame_line.h): more frames have a source location after
/// joining both lines.
///
/// is_full      the line is full: the next word of `next` would not have fitted
/// is_terminal  a terminal wrapped the line, which can split words
/// joined       set to both lines if the result is true
bool goes_on_as_stack(std::string_view line, std::string_view next, bool is_full, bool is_terminal,
                      std::string& joined);

}  // namespace ringside::logs
