#pragma once

#include <map>
#include <string>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::hang {

/// The last line that a rank wrote, without its own name before it.
struct LastLine {
  std::string text;
  logs::Place place;
  std::string file;  ///< known once everything is read
  std::int64_t line = -1;
};

/// Some ranks' last line differs from that of the rest, who all wrote the same except for numbers.
struct OddLine {
  std::vector<int> odd;   ///< few
  std::vector<int> rest;  ///< most
  std::string
      field;  ///< where only one number differs, the word before it: `src`; empty: other words
};

/// Finds the ranks whose last line differs. Times and losses differ between any two lines: numbers count only where
/// the words are the same, and all but few ranks have one number.
/// shape    by rank; at least three ranks
/// returns  no odd ranks where most do not agree
OddLine odd_line_out(const std::map<int, LastLine>& lines);

/// A line that begins with its rank, and the rest: `[worker rank=3] step 7` is `step 7` of rank 3.
struct RankedLine {
  int rank = -1;  ///< -1: the line does not begin so
  std::string_view text;
};
RankedLine read_ranked_line(std::string_view line);

}  // namespace ringside::hang
