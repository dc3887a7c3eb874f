#pragma once

#include <string>

#include "base/json.h"
#include "diag/hangdetect/examine.h"

/// What `ringside hang` shows of an examination.
namespace ringside::cli {

/// The verdict in the first line; then why, where each rank stands, what else was weighed, what to collect.
std::string hang_text(const hang::Examination& all);

/// schema ringside.hang/1
Json hang_json(const hang::Examination& all);

/// One page without anything from elsewhere: the verdict, and a lane a rank with its last calls.
std::string hang_html(const hang::Examination& all);

/// `3`, `0-3,7`; `nobody`.
std::string folded(const std::vector<int>& ranks);

/// Ranks that stand at the same place, as a row of the table has them.
struct HangRow {
  std::vector<int> ranks;
  std::string call;   ///< the one it stands at, or its last one
  std::string state;  ///< `waits`, `idle`, `no dump`
  std::string waits;  ///< for whom
};
std::vector<HangRow> hang_rows(const hang::Examination& all);

}  // namespace ringside::cli
