#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "study/job_hosts.h"

namespace ringside::study {

/// Returns whether a job may be started with this variable and no answer here depends on it: NCCL_DEBUG,
/// NCCL_IB_GID_INDEX.
bool is_idle_variable(std::string_view name);

/// Returns a sentence for each setting that is ignored: `NCCL_DEBUG decides nothing here: it is ignored`.
std::vector<std::string> idle_notes(const JobOptions& options);

}  // namespace ringside::study
