#pragma once

#include <cstddef>
#include <string_view>

/// Where a line that somebody pasted begins and ends, as far as its own words tell.
namespace ringside::logs {

/// It is a program's own line: a prefix, a tag, a label, a time stands at its beginning, or it is empty.
bool begins_line(std::string_view line);

/// `12:08:05.607 ` of `12:08:05.607 [2] all_reduce`: a bare time of day before a label.
/// returns  its length with the blank; 0: none stands there
std::size_t clock_before_label(std::string_view text);

/// A word of ps's column STAT: `Sl`, `T`, `R+`; ps(1), "PROCESS STATE CODES".
bool is_ps_state(std::string_view word);

/// Whether a line of a full page can be the first of what a program said: a header, a tag, a label, a frame, a row,
/// words that begin messages. More than begins_line() knows: a page is full by chance, too.
bool begins_on_full_page(std::string_view text);

/// Whether nothing can follow: a rule across the page, a frame of a stack, the last words of a known message.
bool ends_line(std::string_view text);

/// Whether it announces what stands in the next line.
bool announces(std::string_view text);

}  // namespace ringside::logs
