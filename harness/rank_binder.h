#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "harness/job.h"

namespace ringside {

/// What binds each rank of a job that this program starts to one core, one after the other: JobOptions::on_stage. A rank that
/// may run anywhere is moved onto the core of the rank that it waits for, and each message then costs a turn of the
/// scheduler (50 us in place of 0.5 us on two cores).
///
/// how           auto: core, where starts_ranks; core; none
/// starts_ranks  whether this program starts them, and not a launcher, which has placed them
/// returns       empty: ranks are left as they are
/// errors        InvalidArgument: another word
Result<std::function<void(Rank, JobStage)>> rank_binder(const std::string& how, bool starts_ranks);

/// The core that this process is bound to; none: it may run on several.
std::optional<int> own_core();

}  // namespace ringside
