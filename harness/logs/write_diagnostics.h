#pragma once

#include <span>
#include <string_view>

#include "engine/debuglog/line.h"
#include "harness/logs/rank_view.h"

namespace ringside {

/// Returns the variables that change only the output: NCCL_RUN_DIAGNOSTICS and similar ones.
std::span<const std::string_view> diagnostics_variables();

/// Writes the diagnostics that the rank's environment requests, once the communicator is complete.
/// Only NCCL 2.31 or later, and only the communicator's first rank.
void write_diagnostics(const RankView& rank, DebugLog& log);

}  // namespace ringside
