#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "study/interchange/chakra_import.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// Returns true if the bytes may be a trace in Chrome's format.
bool is_profiler_trace(std::string_view bytes);

/// Imports traces of PyTorch's profiler (Kineto), one per rank, of some or all ranks of a job: the
/// collectives on the GPU, and its work between them. Ranks without a trace are marked silent.
///
/// A call is asynchronous if kernels ran during it. The GPU's other time until the next call,
/// computing or idle, becomes a
/// kernel before that call. Time in which only calls ran is omitted, as the calls are simulated
/// again.
///
/// source  PyTorch torch/csrc/distributed/c10d/ParamCommsUtils.hpp, the names of the arguments
/// errors  Corrupt: not JSON, no collectives, two traces of one rank
Result<RecordedJob> import_profiler_traces(const std::vector<GivenFile>& traces);

}  // namespace ringside::study
