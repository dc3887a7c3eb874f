#pragma once

#include <memory>

#include "base/result.h"
#include "engine/cuda/device/device_queue.h"

namespace ringside {

/// The queue of a GPU: launches that name no stream go to `stream`, which outlives it.
/// errors  System
Result<std::unique_ptr<DeviceQueue>> make_gpu_queue(int device, int multiprocessors, void* stream);

/// Begins a launch on a stream, a cudaStream_t.
/// errors  as DeviceQueue::begin()
Status launch_on_gpu(const DeviceLaunch& launch, Collective collective, int multiprocessors,
                     void* stream);

}  // namespace ringside
