#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::hang {

/// The last line that names a rank as its writer, without the rank's name and the text in front of it.
struct LastLine {
  std::string text;
  logs::Place place;
  std::string file;  ///< set once all input is read
  std::int64_t line = -1;
};

/// A few ranks, at most a quarter or one of three, whose last line differs from the last line of the rest.
struct OddLine {
  std::vector<int> odd;   ///< the few ranks
  std::vector<int> rest;  ///< the other ranks
  std::string field;  ///< the word before the number that differs: `src`; empty: the words differ
};

/// Finds the ranks whose last line differs in its words. If all words are equal, the first number counts that a few ranks
/// have different and that is an argument of a call (`src`, `root`, `dst`, `shape`, `numel`, `size`, `count`) or a
/// smaller `seq..`: other numbers, such as times and losses, may have any value.
/// returns  an empty `odd` for fewer than three ranks, or if most ranks do not agree
OddLine odd_line_out(const std::map<int, LastLine>& lines);

/// The rank that a line names as its writer, and the text after the name: 3 and `step 7` for `[worker rank=3] step 7`.
struct RankedLine {
  int rank = -1;          ///< -1: no rank, or several
  std::string_view text;  ///< a view of the line
};

/// Reads the rank that the first 40 characters of a line name: `rank 3`, `rank=3`, `rank3`, with any text before it. Two
/// different ranks are none, and so is a rank that only follows words that relate it to something else: `waiting for
/// rank 3`.
RankedLine read_ranked_line(std::string_view line);

}  // namespace ringside::hang
