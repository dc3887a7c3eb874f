#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/runtime/calls/executor.h"

namespace ringside {

/// Returns the names of other libraries that peer_executor() knows: mpi, gloo, torch.
std::span<const std::string_view> peer_names();

/// Opens the plugin of another library (harness/peers), which then runs the calls of a benchmark on hosts. torch may be
/// followed by the name of a backend: torch:ringside.
/// errors  InvalidArgument: unknown name.  Unsupported: this build has no such plugin, or a library that it needs is not
///         there; the help names how to get it
Result<ExecutorMaker> peer_executor(const std::string& name);

}  // namespace ringside
