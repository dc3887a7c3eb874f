#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "diag/hangdetect/examine.h"

/// Formats an examination of a hung job as text, JSON or HTML. The functions return the text and do not print.
namespace ringside::hang {

/// Returns the verdict in the first line, then the reason, the position of each rank, other hypotheses, and inputs to
/// collect.
std::string report_text(const Examination& all);

/// Returns the examination as JSON.
/// schema  ringside.hang/1
Json report_json(const Examination& all);

/// Returns one HTML page without external files: the verdict, and a row for each rank with its last calls.
std::string report_html(const Examination& all);

/// A row of the report's table: ranks with the same position.
struct PlaceRow {
  std::vector<int> ranks;
  std::string call;  ///< the blocked call, or the last call; `-`: none is known
  std::string
      state;  ///< `waits`, `idle`, `no dump`, or `failed`: its call failed, which need not be the one that hangs
  std::string waits;  ///< the ranks that these ranks wait for
};

/// Returns the rows of the table, one for each position.
std::vector<PlaceRow> place_rows(const Examination& all);

/// Returns the number of dump files that were read, without dumps made from log lines.
std::size_t dumps_read(const Examination& all);

/// Returns the page on a class of hangs, docs/findings/hang_<kind>.md: its meaning, how to confirm and fix it, false
/// alarms, an example.
/// errors  InvalidArgument: the class does not exist; the message lists all classes
Result<std::string_view> page_of(std::string_view kind);

}  // namespace ringside::hang
