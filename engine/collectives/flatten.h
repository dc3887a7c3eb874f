#pragma once

#include <cstddef>
#include <vector>

#include "engine/collectives/device_task.h"
#include "engine/collectives/task.h"

namespace ringside {

/// Converts a task to a DeviceTask, and appends its arrays to `tables`. On a GPU, the block must be aligned to 8 bytes,
/// as all allocated memory is.
/// shape  tables smaller than 4 GiB
DeviceTask flatten(const ChannelTask& task, std::vector<std::byte>& tables);

}  // namespace ringside
