#pragma once

#include <span>

#include "engine/cuda/device/lay_out.h"

namespace ringside {

/// Appends a call to a launch.
/// buffers  [rank of the grid]
/// returns  false: the launch has no room for the call, or has other ranks; it is unchanged
bool add_work(DeviceLaunch& launch, const DeviceGrid& grid, std::span<const DeviceBuffers> buffers);

/// Returns a launch of one call.
DeviceLaunch launch_of(const DeviceGrid& grid, std::span<const DeviceBuffers> buffers);

}  // namespace ringside
