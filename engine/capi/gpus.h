#pragma once

#include <functional>
#include <memory>

#include "engine/cuda/gpu/gpu.h"
#include "engine/runtime/calls/executor.h"

namespace ringside {

/// The CUDA functions that the C API uses. Tests replace them.
struct Gpus {
  std::function<Result<std::unique_ptr<Gpu>>(int device)> open = Gpu::open;
  std::function<Result<int>()> current = Gpu::current;
  std::function<Status(DeviceStream)> synchronize = Gpu::synchronize;
  std::function<Result<bool>(DeviceStream)> is_done = Gpu::is_done;
};
Gpus& gpus_of_process();

/// Returns a maker of executors that run calls on the GPU. Each executor opens the GPU with its own stream and memory.
/// errors  errors of the maker: as Gpu::open() and make_cuda_process_executor()
ExecutorMaker executor_on_gpu(int device);

}  // namespace ringside
