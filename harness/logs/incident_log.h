#pragma once

#include "engine/debuglog/line.h"
#include "harness/logs/process_log.h"
#include "harness/logs/rank_view.h"

/// Parts of write_phase() for the lines about an incident. Private to this folder.
namespace ringside {

/// Returns true if the incident ends the generation in this phase on all ranks.
bool ends_in(const LogJob& job, const LogPhase& phase);

/// Appends the rank's lines about the incident in a phase, if any.
void write_incident(const RankView& rank, LogPhase::Kind phase, DebugLog& log);

/// Returns true if the incident keeps the rank from the last line of the phase: "Connected all
/// rings".
bool breaks_off(const RankView& rank, LogPhase::Kind phase);

/// Returns the rank that an affected host omits from its rings: its last one.
int skipped_rank(const RankView& rank);

}  // namespace ringside
