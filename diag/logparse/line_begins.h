#pragma once

#include <cstddef>
#include <string_view>

/// Decides by the content of a paste's lines where a program's lines begin and end.
namespace ringside::logs {

/// Returns whether a text is the beginning of a program's line: it is empty, has a prefix, a tag, a label or a time, is a
/// row of ps or of kubectl's pods, or begins as lines of programs next to the stack do (`Traceback`, `srun:`).
bool begins_line(std::string_view line);

/// Returns the length, with the blank, of a time of day before a label, 13 for `12:08:05.607 [2] all_reduce`; 0 if there is
/// none.
std::size_t clock_before_label(std::string_view text);

/// Returns whether a word is a value of ps's column STAT: `Sl`, `T`, `R+`.  source  ps(1), "PROCESS STATE CODES"
bool is_ps_state(std::string_view word);

/// Returns whether a line that follows a line of the page's full width may be the beginning of a program's line: a
/// header, a tag, a label, a frame, a row, or words that begin messages. Accepts more than begins_line(), because a
/// line can have the full width by chance.
bool begins_on_full_page(std::string_view text);

/// Returns whether no next line can continue this line: a horizontal rule, a stack frame, the end of a known message.
bool ends_line(std::string_view text);

/// Returns whether the line must continue in the next one: `terminated with exception: [Rank 1]` announces the error
/// that a watchdog caught.
bool announces(std::string_view text);

}  // namespace ringside::logs
