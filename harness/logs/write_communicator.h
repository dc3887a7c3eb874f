#pragma once

#include "engine/debuglog/line.h"
#include "harness/logs/process_log.h"
#include "harness/logs/rank_view.h"

/// Parts of write_phase() for the life of one communicator. Private to this folder.
namespace ringside {

void write_start(const RankView& rank, DebugLog& log);
void write_graphs(const RankView& rank, DebugLog& log);
void write_connect(const RankView& rank, DebugLog& log);
void write_complete(const RankView& rank, DebugLog& log);
void write_calls(const RankView& rank, const LogPhase& phase, DebugLog& log);
void write_end(const RankView& rank, DebugLog& log);

}  // namespace ringside
