#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/names.h"

namespace ringside::hang {

/// Whether a file that begins so is a list of calls that a library writes as it runs: torchcomms' clog
/// (`V|1|base_timestamp=`), or JSON lines of NCCL's Inspector plugin (`coll_perf`).
bool looks_like_call_log(std::string_view head);

/// Reads one such file as the dump of its rank.
///
/// A clog states when each call was enqueued, started and ended. The Inspector states only calls that ended
/// (RankDump::is_completed_only), with their sizes.
/// path    named in errors; its number is the rank where the text states none
/// errors  Corrupt: no line is a call or a communicator
Result<RankDump> parse_call_log(std::string_view text, const std::string& path, Names& names);

/// Loads the call logs among the files, by rank. Files that cannot be read go to `bad`.
std::vector<RankDump> load_call_logs(const std::vector<InputFile>& files, Names& names,
                                     std::vector<BadFile>& bad);

}  // namespace ringside::hang
