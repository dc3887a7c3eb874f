#pragma once

#include "engine/debuglog/line.h"
#include "harness/logs/process_log.h"
#include "harness/logs/rank_view.h"

/// Parts of write_phase(): what the job's incident makes its ranks say. Private to this folder.
namespace ringside {

/// Whether nothing follows this phase of that generation, for any rank.
bool ends_in(const LogJob& job, const LogPhase& phase);

/// Appends the rank's lines about the incident in a phase of that kind, if any.
void write_incident(const RankView& rank, LogPhase::Kind phase, DebugLog& log);

/// Whether the incident keeps the rank from what ends a phase of that kind: "Connected all rings".
bool breaks_off(const RankView& rank, LogPhase::Kind phase);

/// The rank that a struck host's rings omit: the last one of it.
int left_out_rank(const RankView& rank);

}  // namespace ringside
