#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/names.h"

namespace ringside::hang {

/// Returns whether a file that begins with `head` is a call log: a list of calls that a library writes while it runs.
/// Call logs are torchcomms' clog (`V|1|base_timestamp=`) and the JSON lines of NCCL's Inspector plugin (`coll_perf`).
bool looks_like_call_log(std::string_view head);

/// Converts a call log to the dump of its rank.
///
/// A clog states when each call was enqueued, started and ended. The Inspector writes only completed calls, with their
/// sizes (RankDump::is_completed_only).
/// path    named in errors; the number in it is the rank if the text names none
/// errors  Corrupt: no line is a call or a communicator
Result<RankDump> parse_call_log(std::string_view text, const std::string& path, Names& names);

/// Loads the call logs among the files, sorted by rank. Files that cannot be read are appended to `bad`.
std::vector<RankDump> load_call_logs(const std::vector<InputFile>& files, Names& names,
                                     std::vector<BadFile>& bad);

}  // namespace ringside::hang
