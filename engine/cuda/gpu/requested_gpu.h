#pragma once

#include <functional>
#include <optional>

#include "base/env.h"
#include "base/result.h"

namespace ringside {

/// Which GPU a communicator's calls are to run on: host (none), cuda (the thread's) or cuda:N.
/// name     null: as RINGSIDE_DEVICE says, else host
/// current  Gpu::current()
/// errors   InvalidArgument: none of these.  As `current`
Result<std::optional<int>> requested_gpu(const char* name,
                                         const std::function<Result<int>()>& current,
                                         const Environment& environment = env_text);

}  // namespace ringside
