#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "harness/job.h"

namespace ringside {

/// Returns a JobOptions::on_stage that binds each rank to a core of its own. Without binding, the
/// scheduler may move a rank to the core of the rank that it waits for; each message then costs a
/// context switch (50 us instead of 0.5 us on two cores).
///
/// how           auto: core if starts_ranks, else none; core; none
/// starts_ranks  this program starts the ranks; false: a launcher has started and placed them
/// returns       empty function: ranks are not bound
/// errors        InvalidArgument: unknown word
Result<std::function<void(Rank, JobStage)>> rank_binder(const std::string& how, bool starts_ranks);

/// Returns the core that this process is bound to; none: it may run on several.
std::optional<int> own_core();

}  // namespace ringside
