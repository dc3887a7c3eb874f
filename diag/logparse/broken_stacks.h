#pragma once

#include <string>
#include <string_view>

namespace ringside::logs {

/// Both begin with the same words, numbers aside: steps of a progress bar, ranks of a list.
bool begin_alike(std::string_view a, std::string_view b);

/// A stack in a line (frame_line.h) that was broken: joined, more of its frames have a place.
///
/// is_full      nothing more fitted on the line; by an editor's page, not the next word
/// is_terminal  a terminal broke it, which parts words
/// joined       both lines where it is one
/// returns      false: `joined` is of no use
bool goes_on_as_stack(std::string_view line, std::string_view next, bool is_full, bool is_terminal,
                      std::string& joined);

}  // namespace ringside::logs
