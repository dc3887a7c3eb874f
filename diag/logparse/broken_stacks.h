#pragma once

#include <string>
#include <string_view>

namespace ringside::logs {

/// Whether both begin with the same words, ignoring numbers: steps of a progress bar, ranks of a list.
bool begin_alike(std::string_view a, std::string_view b);

/// Whether `next` continues a stack in a line (frame_line.h) that was broken: joined, more of its frames have a
/// place.
///
/// is_full      nothing more fitted on the line; for an editor's page, not the next word
/// is_terminal  a terminal broke it, which can split words
/// joined       gets both lines if they belong together
/// returns      false: `joined` is not set
bool goes_on_as_stack(std::string_view line, std::string_view next, bool is_full, bool is_terminal,
                      std::string& joined);

}  // namespace ringside::logs
