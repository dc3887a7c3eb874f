#pragma once

#include <memory>

#include "engine/cuda/gpu/gpu.h"
#include "engine/runtime/calls/executor.h"
#include "engine/transport/transport.h"

namespace ringside {

/// For ranks that are processes with kernels of their own: opens the rank's GPU in its process, into `gpu`, which
/// outlives the executor. The ranks of a host take its GPUs by turns.
/// transport  between processes; null: the fastest that there is
/// errors     of the maker: System: no GPU, and what is missing; as make_cuda_process_executor()
ExecutorMaker gpu_process_executor(std::unique_ptr<Gpu>& gpu, const Transport* transport = nullptr);

/// The same, but NCCL's kernels run the calls.
/// errors  of the maker: Unsupported: no libnccl; as Gpu::open() and make_nccl_executor()
ExecutorMaker gpu_nccl_executor(std::unique_ptr<Gpu>& gpu);

}  // namespace ringside
