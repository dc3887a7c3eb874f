#pragma once

#include <functional>
#include <optional>

#include "base/env.h"
#include "base/result.h"

namespace ringside {

/// Returns the GPU on which a communicator's calls should run: host (nullopt), cuda (the thread's current GPU) or
/// cuda:N.
/// name     null: the value of RINGSIDE_DEVICE, else host
/// current  Gpu::current()
/// errors   InvalidArgument: another word.  As `current`
Result<std::optional<int>> requested_gpu(const char* name,
                                         const std::function<Result<int>()>& current,
                                         const Environment& environment = env_text);

}  // namespace ringside
