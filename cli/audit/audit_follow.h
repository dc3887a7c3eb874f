#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "diag/audit/audit.h"

namespace ringside::cli {

/// Reads logs while they grow, and writes each new finding to `out`: until SIGINT, SIGTERM, or the end of all pipes.
/// returns  the audit of everything read
/// errors   as LiveAudit::make(); as audit::check_anything_read(), at the end
Result<audit::Audit> follow_logs(const std::vector<std::string>& logs, std::FILE* out,
                                 Clock& clock = real_clock());

}  // namespace ringside::cli
