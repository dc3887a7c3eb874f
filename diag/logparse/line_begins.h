#pragma once

#include <cstddef>
#include <string_view>

/// Finds where lines of a paste begin and end, as far as their own words show.
namespace ringside::logs {

/// Whether it is a program's own line: it begins with a prefix, a tag, a label or a time, or it is empty.
bool begins_line(std::string_view line);

/// `12:08:05.607 ` of `12:08:05.607 [2] all_reduce`: a bare time of day before a label.
/// returns  its length with the blank; 0: there is none
std::size_t clock_before_label(std::string_view text);

/// A word of ps's column STAT: `Sl`, `T`, `R+`; ps(1), "PROCESS STATE CODES".
bool is_ps_state(std::string_view word);

/// Whether a line of a full page can begin a program's line: a header, a tag, a label, a frame, a row, words that
/// begin messages. Broader than begins_line(): a page can be full by chance.
bool begins_on_full_page(std::string_view text);

/// Whether the line cannot continue: a rule across the page, a frame of a stack, the end of a known message.
bool ends_line(std::string_view text);

/// Whether the line announces the next one.
bool announces(std::string_view text);

}  // namespace ringside::logs
