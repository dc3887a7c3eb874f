#pragma once

#include <map>
#include <string>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::hang {

/// What a rank wrote last, without its own name before it.
struct LastLine {
  std::string text;
  logs::Place place;
  std::string file;  ///< known once everything is read
  std::int64_t line = -1;
};

/// One rank's last line is another than that of the rest, who all wrote the same but for numbers.
struct OddLine {
  std::vector<int> odd;   ///< few
  std::vector<int> rest;  ///< most
  std::string
      field;  ///< where only one number differs, the word before it: `src`; empty: other words
};

/// Who of the ranks wrote something else last. Times and losses differ between any two lines: numbers count only where the
/// words are the same, and all but few ranks have one number.
/// shape    by rank; at least three ranks
/// returns  nobody where most do not agree
OddLine odd_line_out(const std::map<int, LastLine>& lines);

/// A line that begins with its rank, and what stands behind that: `[worker rank=3] step 7` is `step 7` of 3.
struct RankedLine {
  int rank = -1;  ///< -1: the line does not begin so
  std::string_view text;
};
RankedLine read_ranked_line(std::string_view line);

}  // namespace ringside::hang
