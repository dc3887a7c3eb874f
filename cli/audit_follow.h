#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"
#include "diag/audit/report.h"

namespace ringside::cli {

/// Reads logs while they grow, and prints what is found when it is: until SIGINT, then the whole report.
VerbResult follow_logs(const std::vector<std::string>& logs, const audit::TextStyle& style);

}  // namespace ringside::cli
