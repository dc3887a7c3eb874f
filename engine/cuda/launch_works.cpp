#include "engine/cuda/launch_works.h"

#include <algorithm>

#include "base/assert.h"

namespace ringside {

bool add_work(DeviceLaunch& launch, const DeviceGrid& grid,
              std::span<const DeviceBuffers> buffers) {
  const auto count = static_cast<int>(buffers.size());
  RINGSIDE_ASSERT(count == grid.places, "{} buffers of {} ranks", count, grid.places);
  const bool has_room =
      launch.works < kMostDeviceWorks && launch.buffer_count + count <= kMostDeviceBuffers;
  if (!has_room || (launch.works > 0 && launch.places != grid.places)) return false;
  launch.work[launch.works++] = {grid.blocks, grid.channels(), launch.buffer_count};
  std::ranges::copy(buffers, launch.buffers + launch.buffer_count);
  std::fill_n(launch.windows + launch.buffer_count, count, grid.window);
  launch.buffer_count += count;
  launch.places = grid.places;
  launch.channels = std::max(launch.channels, grid.channels());
  launch.warps = std::max(launch.warps, grid.warps());
  return true;
}

DeviceLaunch launch_of(const DeviceGrid& grid, std::span<const DeviceBuffers> buffers) {
  DeviceLaunch launch;
  const bool is_there = add_work(launch, grid, buffers);
  RINGSIDE_ASSERT(is_there, "{} ranks in a launch", buffers.size());
  return launch;
}

}  // namespace ringside
