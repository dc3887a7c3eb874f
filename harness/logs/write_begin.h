#pragma once

#include "engine/debuglog/line.h"
#include "harness/logs/rank_view.h"

/// Parts of write_phase() for the lines before the first communicator, and for those about
/// variables. Private to this folder.
namespace ringside {

void write_begin(const RankView& rank, DebugLog& log);

/// The moment at which NCCL first reads and logs a variable.
enum class ReadAt { Bootstrap, Network, Topology, Channels };
void write_settings(const RankView& rank, ReadAt moment, LineThread thread, DebugLog& log);

}  // namespace ringside
