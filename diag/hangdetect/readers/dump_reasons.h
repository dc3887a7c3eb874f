#pragma once

#include <span>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/hangdetect/readers/trace_files.h"

namespace ringside::hang {

/// What dumps of ringside's own engine say of why they were taken: the words of its log, read as those are.
/// Dumps of PyTorch say nothing of it.
std::vector<LogStatement> reasons_of(std::span<const RankDump> dumps, Names& names);

/// What is under way on connections, by both ends' dumps: sent and not received, while the receiver waits.
std::vector<ConnectionProgress> connections_of(std::span<const RankDump> dumps);

}  // namespace ringside::hang
