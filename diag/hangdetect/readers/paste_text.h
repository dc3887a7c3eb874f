#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// A line as its program wrote it.
struct PasteLine {
  std::int64_t number = 0;     ///< of its first part in the file, from 1
  bool follows_blank = false;  ///< an empty line or a fence stands before it
  std::string stamp;           ///< the time that a collector put before it; empty where none did
  std::string text;            ///< without what was put before it, and without blanks at its ends
};

/// Undoes what happens to text between a program and a thread: colours, quotation marks, code fences, viewers'
/// line numbers, a collector's times and pod names, gaps (`...`), and lines that a terminal or an editor has
/// broken at its width.
///
/// What stands before every line is taken for a label only where most lines have one of its shape; a line is
/// joined to the one before it only if it cannot begin by itself and the one before is as wide as the text.
/// Ranks' own tags (`[rank3]:`, `3: `) stay.
///
/// Memory  a copy of the text
std::vector<PasteLine> read_paste(std::string_view text);

}  // namespace ringside::hang
