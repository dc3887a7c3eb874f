#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// A line of a paste, restored to the form in which its program wrote it.
struct PasteLine {
  std::int64_t number = 0;     ///< line number of its first part in the paste, from 1
  bool follows_blank = false;  ///< an empty line or a fence precedes it
  std::string stamp;           ///< time that a log collector added in front; empty: none
  std::string text;            ///< the line without added prefixes, and without blanks at its ends
  std::string host = {};  ///< host named by a label in front or a heading above; empty: unknown
  int rank = -1;          ///< rank named by a heading above; -1: unknown
};

/// Returns the lines of logs::restore_paste() without the placeholders for merged lines.
///
/// Memory  a copy of the text
std::vector<PasteLine> read_paste(std::string_view text);

/// Converts UTF-16 with its byte-order mark, as PowerShell's `>` writes it, to UTF-8; returns any other text
/// unchanged.
std::string as_utf8(std::string text);

/// Returns whether the text needs normalising: it is neither compressed nor binary, nor unchanged library output.
bool is_paste(std::string_view text);

}  // namespace ringside::hang
