#pragma once

#include "base/result.h"
#include "cli/verb.h"

namespace ringside::cli {

struct BenchArguments;

/// `bench --device cuda`: ranks that share one GPU.
/// errors  InvalidArgument: an option that means nothing there.  System: no GPU, and what is missing
VerbResult run_bench_on_gpu(const BenchArguments& arguments);

/// Whether ranks are processes with kernels of their own: a launcher's, or by --processes.
/// errors  InvalidArgument: an option that means nothing there
Result<bool> has_gpu_processes(const BenchArguments& arguments);

}  // namespace ringside::cli
