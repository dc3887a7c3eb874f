#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "diag/hangdetect/examine.h"

/// An examination for people and for programs. Nothing here prints.
namespace ringside::hang {

/// The verdict in the first line; then the reason, where each rank is, other hypotheses, what to collect.
std::string report_text(const Examination& all);

/// schema ringside.hang/1
Json report_json(const Examination& all);

/// One page without external files: the verdict, and a lane for each rank with its last calls.
std::string report_html(const Examination& all);

/// Ranks at the same place, as a row of the table.
struct PlaceRow {
  std::vector<int> ranks;
  std::string call;   ///< the one that it is blocked in, or its last one
  std::string state;  ///< `waits`, `idle`, `no dump`
  std::string waits;  ///< the ranks that it waits for
};
std::vector<PlaceRow> place_rows(const Examination& all);

/// The number of dumps that were read, without dumps made from log lines.
std::size_t dumps_read(const Examination& all);

/// The page on a kind, docs/findings/hang_<kind>.md: its meaning, how to confirm and fix it, when it is a false
/// alarm, an example.
/// errors  InvalidArgument: no such kind; the message lists the kinds
Result<std::string_view> page_of(std::string_view kind);

}  // namespace ringside::hang
