#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// A line as its program wrote it.
struct PasteLine {
  std::int64_t number = 0;     ///< of its first part in the file, from 1
  bool follows_blank = false;  ///< an empty line or a fence precedes it
  std::string stamp;           ///< the time that a collector put before it; empty where none did
  std::string text;            ///< without what was put before it, and without blanks at its ends
  std::string host = {};       ///< that a label before it names, or a heading above it
  int rank = -1;               ///< that a heading above it names
};

/// The lines of logs::restore_paste(), without placeholders for lines that were merged.
///
/// Memory  a copy of the text
std::vector<PasteLine> read_paste(std::string_view text);

/// Converts UTF-16 with its byte-order mark, as PowerShell's `>` writes it, to UTF-8; returns any other text
/// unchanged.
std::string as_utf8(std::string text);

/// Whether the text needs normalising: not compressed, not binary, and not as its library wrote it.
bool is_paste(std::string_view text);

}  // namespace ringside::hang
