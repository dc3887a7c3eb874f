#pragma once

#include <span>

#include "engine/cuda/device/lay_out.h"

namespace ringside {

/// Appends a call to a launch.
/// buffers  of each rank of the grid
/// returns  false: it has no room for it, or other ranks; the launch is as it was
bool add_work(DeviceLaunch& launch, const DeviceGrid& grid, std::span<const DeviceBuffers> buffers);

/// Returns a launch of one call.
DeviceLaunch launch_of(const DeviceGrid& grid, std::span<const DeviceBuffers> buffers);

}  // namespace ringside
