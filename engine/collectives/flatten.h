#pragma once

#include <cstddef>
#include <vector>

#include "engine/collectives/device_task.h"
#include "engine/collectives/task.h"

namespace ringside {

/// The task without pointers; its tables go behind what `tables` holds. On a GPU the block lies at a multiple
/// of 8 bytes, as all memory that is allocated does.
/// shape  tables below 4 GiB
DeviceTask flatten(const ChannelTask& task, std::vector<std::byte>& tables);

}  // namespace ringside
