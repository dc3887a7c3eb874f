#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "diag/hangdetect/examine.h"

/// An examination as people and programs read it. Nothing here prints.
namespace ringside::hang {

/// The verdict in the first line; then why, where each rank stands, what else was weighed, what to collect.
std::string report_text(const Examination& all);

/// schema ringside.hang/1
Json report_json(const Examination& all);

/// One page without anything from elsewhere: the verdict, and a lane a rank with its last calls.
std::string report_html(const Examination& all);

/// Ranks that stand at the same place, as a row of the table has them.
struct Stand {
  std::vector<int> ranks;
  std::string call;   ///< the one it stands at, or its last one
  std::string state;  ///< `waits`, `idle`, `no dump`
  std::string waits;  ///< for whom
};
std::vector<Stand> stands_of(const Examination& all);

/// Dumps that were read, without those that log lines stand in for.
std::size_t dumps_read(const Examination& all);

/// The page on a kind, docs/findings/hang_<kind>.md: what it means, how to confirm and fix it, when it is a false alarm, an example.
/// errors  InvalidArgument: no such kind; it names those that there are
Result<std::string_view> page_of(std::string_view kind);

}  // namespace ringside::hang
