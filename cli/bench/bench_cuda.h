#pragma once

#include "base/result.h"
#include "cli/verb.h"

namespace ringside::cli {

struct BenchArguments;

/// Runs `bench --device cuda` with ranks that share one GPU.
/// errors  InvalidArgument: an option that has no meaning there.  System: no GPU; names what is missing
VerbResult run_bench_on_gpu(const BenchArguments& arguments);

/// Returns true if ranks are processes with kernels of their own: started by a launcher, or with
/// --processes.
/// errors  InvalidArgument: an option that has no meaning there
Result<bool> has_gpu_processes(const BenchArguments& arguments);

}  // namespace ringside::cli
