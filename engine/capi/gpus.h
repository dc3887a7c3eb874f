#pragma once

#include <functional>
#include <memory>

#include "engine/cuda/gpu/gpu.h"
#include "engine/runtime/calls/executor.h"

namespace ringside {

/// What the C face asks of CUDA. Tests put others in place of these.
struct Gpus {
  std::function<Result<std::unique_ptr<Gpu>>(int device)> open = Gpu::open;
  std::function<Result<int>()> current = Gpu::current;
  std::function<Status(DeviceStream)> synchronize = Gpu::synchronize;
  std::function<Result<bool>(DeviceStream)> is_done = Gpu::is_done;
};
Gpus& gpus_of_process();

/// For communicators whose calls run there: each opens the GPU anew, with a stream and memory of its own, and keeps it.
/// errors  of the maker: as Gpu::open() and make_cuda_process_executor()
ExecutorMaker executor_on_gpu(int device);

}  // namespace ringside
