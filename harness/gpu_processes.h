#pragma once

#include <memory>

#include "engine/cuda/gpu/gpu.h"
#include "engine/runtime/calls/executor.h"
#include "engine/transport/transport.h"

namespace ringside {

/// Returns a maker of executors for ranks that are processes with kernels of their own. The maker
/// opens the rank's GPU into `gpu`, which must outlive the executor. The ranks of a host use its
/// GPUs round-robin.
/// transport  between processes; null: the fastest available
/// errors     of the maker: System: no GPU, with the missing part; as make_cuda_process_executor()
ExecutorMaker gpu_process_executor(std::unique_ptr<Gpu>& gpu, const Transport* transport = nullptr);

/// Returns a maker of executors that call NCCL's kernels instead.
/// errors  of the maker: Unsupported: no libnccl; as Gpu::open() and make_nccl_executor()
ExecutorMaker gpu_nccl_executor(std::unique_ptr<Gpu>& gpu);

}  // namespace ringside
