#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "study/interchange/chakra_import.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// Whether the bytes may be a trace in Chrome's format.
bool is_profiler_trace(std::string_view bytes);

/// Traces of PyTorch's profiler (Kineto), one for each rank, of some or all ranks of a job: the collectives on the
/// GPU, and its work between them. Ranks without a trace are silent.
///
/// A call is asynchronous if kernels ran during it. The GPU's time until the next call, computing or idle, becomes a
/// kernel before that call; time in which only calls ran does not: they are simulated again.
///
/// source  PyTorch torch/csrc/distributed/c10d/ParamCommsUtils.hpp, the names of the arguments
/// errors  Corrupt: no JSON, no collectives, two traces of a rank
Result<RecordedJob> import_profiler_traces(const std::vector<GivenFile>& traces);

}  // namespace ringside::study
