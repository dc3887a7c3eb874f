#pragma once

#include "engine/debuglog/line.h"
#include "harness/logs/rank_view.h"

/// Parts of write_phase(): the lines of a process before its first communicator, and those about its variables.
/// Private to this folder.
namespace ringside {

void write_begin(const RankView& rank, DebugLog& log);

/// When NCCL first reads a variable, and with that echoes it.
enum class ReadAt { Bootstrap, Network, Topology, Channels };
void write_settings(const RankView& rank, ReadAt moment, LineThread thread, DebugLog& log);

}  // namespace ringside
