#pragma once

#include <span>
#include <string_view>

#include "engine/debuglog/line.h"
#include "harness/logs/rank_view.h"

namespace ringside {

/// Variables that change only what is printed: NCCL_RUN_DIAGNOSTICS and its like.
std::span<const std::string_view> diagnostics_variables();

/// Writes what those diagnostics find that the rank's environment asks for, once the communicator is complete; from
/// 2.31 on, and by its first rank.
void write_diagnostics(const RankView& rank, DebugLog& log);

}  // namespace ringside
