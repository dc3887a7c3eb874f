#pragma once

#include <string>

#include "base/result.h"
#include "harness/logs/log_job.h"
#include "harness/logs/misconfiguration.h"

namespace ringside {

/// Writes `truth.json`: the job's faults in the format of the labelled logs. Hosts have the names that they have in the log.
/// shape   the folder exists
/// errors  System: the file cannot be written
Status write_truth(const LogJob& job, const LogTruth& truth, const std::string& folder);

}  // namespace ringside
