#pragma once

#include <memory>
#include <optional>

#include "engine/cuda/device/device_memory.h"

namespace ringside {

/// What fibres have for a device's memory: this process's.
/// shares_by  None: no other rank reaches it. Else all of this host do, those of this process by its address (Address:
///            these alone); others by a path that replaces CUDA's IPC and, as that, does not work within a process, or
///            by a file
/// lets_adapters  whether some is to be had that network adapters read and write
/// is_by_pcie     whether others reach it by PCIe
/// number         which of the host's GPUs it is of, where each rank has one of its own behind a switch; none: all share one
std::unique_ptr<DeviceMemory> make_fibre_memory(MemoryWay shares_by, bool lets_adapters,
                                                std::optional<int> number = std::nullopt,
                                                bool is_by_pcie = false);

}  // namespace ringside
