#pragma once

#include <span>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/hangdetect/readers/trace_files.h"

namespace ringside::hang {

/// Why dumps of ringside's own engine were taken: its log's wording, read as log lines are. Dumps of PyTorch do not
/// record it.
std::vector<LogStatement> reasons_of(std::span<const RankDump> dumps, Names& names);

/// Chunks in flight on connections, by both ends' dumps: sent and not received, while the receiver waits.
std::vector<ConnectionProgress> connections_of(std::span<const RankDump> dumps);

}  // namespace ringside::hang
