#pragma once

#include <string>

#include "ringside/job.h"
#include "study/asked_job.h"

namespace ringside {

study::JobOptions options_of(const JobRequest& job);

/// Returns the release that the job names, or the newest.
std::string release_of(const JobRequest& job);

}  // namespace ringside
