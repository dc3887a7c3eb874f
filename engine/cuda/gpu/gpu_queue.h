#pragma once

#include <memory>

#include "base/result.h"
#include "engine/cuda/device/device_queue.h"

namespace ringside {

/// Makes the queue of a GPU. Launches without a stream of their own use `stream`, a cudaStream_t that outlives the
/// queue.
/// device           number of the GPU in the CUDA runtime
/// multiprocessors  number of the GPU's multiprocessors
/// errors           System
Result<std::unique_ptr<DeviceQueue>> make_gpu_queue(int device, int multiprocessors, void* stream);

/// Begins a launch on a stream, a cudaStream_t of the current GPU.
/// errors  as DeviceQueue::begin()
Status launch_on_gpu(const DeviceLaunch& launch, Collective collective, int multiprocessors,
                     void* stream);

}  // namespace ringside
