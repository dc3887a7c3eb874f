#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "diag/audit/audit.h"

namespace ringside::cli {

/// Reads logs while they grow, and writes what is found to `out` when it is: until SIGINT, SIGTERM, or the end of
/// all pipes.
/// returns  what all of it tells
/// errors   as LiveAudit::make()
Result<audit::Audit> follow_logs(const std::vector<std::string>& logs, std::FILE* out,
                                 Clock& clock = real_clock());

}  // namespace ringside::cli
