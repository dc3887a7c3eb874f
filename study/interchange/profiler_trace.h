#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "study/interchange/chakra_import.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// Whether the bytes may be a trace in Chrome's format.
bool is_profiler_trace(std::string_view bytes);

/// Traces of PyTorch's profiler (Kineto), one a rank, some of a job's: the collectives on the GPU, and what it was busy
/// with between them. Ranks that left no trace are silent.
///
/// A call is asynchronous if kernels ran beside it; what the GPU did until the next call, computing or idle, is the kernel
/// in front of that; time in which calls alone ran is not: they are simulated anew.
///
/// source  PyTorch torch/csrc/distributed/c10d/ParamCommsUtils.hpp, the names of the arguments
/// errors  Corrupt: no JSON, no collectives, two traces of a rank
Result<RecordedJob> import_profiler_traces(const std::vector<GivenFile>& traces);

}  // namespace ringside::study
