#pragma once

#include <memory>

#include "base/result.h"
#include "engine/cuda/device/device_queue.h"

namespace ringside {

/// Makes the queue of a GPU. Launches without a stream use `stream`, which outlives the queue. errors  System
Result<std::unique_ptr<DeviceQueue>> make_gpu_queue(int device, int multiprocessors, void* stream);

/// Begins a launch on a stream, a cudaStream_t.
/// errors  as DeviceQueue::begin()
Status launch_on_gpu(const DeviceLaunch& launch, Collective collective, int multiprocessors,
                     void* stream);

}  // namespace ringside
