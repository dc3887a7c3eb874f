#pragma once

#include <span>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/hangdetect/readers/trace_files.h"

namespace ringside::hang {

/// Returns statements for the reasons in dumps of ringside's own engine. A reason has the wording of the engine's log
/// and is read like a log line. PyTorch's dumps have no reason.
std::vector<LogStatement> reasons_of(std::span<const RankDump> dumps, Names& names);

/// Returns the connections with chunks in flight, from the dumps of both ends: chunks that were sent and not received,
/// while the receiver waits.
std::vector<ConnectionProgress> connections_of(std::span<const RankDump> dumps);

}  // namespace ringside::hang
