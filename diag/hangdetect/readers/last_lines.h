#pragma once

#include <map>
#include <string>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::hang {

/// The last line that a rank wrote, without the rank's name in front.
struct LastLine {
  std::string text;
  logs::Place place;
  std::string file;  ///< set once all input is read
  std::int64_t line = -1;
};

/// A few ranks whose last line differs from the last line of the rest, which is equal except for numbers.
struct OddLine {
  std::vector<int> odd;   ///< the few ranks
  std::vector<int> rest;  ///< the other ranks
  std::string
      field;  ///< the word before the only number that differs: `src`; empty: the words differ
};

/// Finds the ranks whose last line differs. A number counts only if the words are equal and all but a few ranks have
/// the same number, because times and losses always differ.
/// shape    by rank; at least three ranks
/// returns  an empty `odd` if most ranks do not agree
OddLine odd_line_out(const std::map<int, LastLine>& lines);

/// The rank at the start of a line, and the text after it: 3 and `step 7` for `[worker rank=3] step 7`.
struct RankedLine {
  int rank = -1;  ///< -1: the line does not begin with a rank
  std::string_view text;
};
RankedLine read_ranked_line(std::string_view line);

}  // namespace ringside::hang
