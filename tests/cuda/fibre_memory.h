#pragma once

#include <memory>
#include <optional>

#include "engine/cuda/device/device_memory.h"

namespace ringside {

/// Makes the memory of a device of fibres: memory of this process.
///
/// shares_by     None: no other rank reaches it. Otherwise all ranks of this host do: those of this process by its
///               address (with Address: only those), others by a path that replaces CUDA's IPC and, like IPC, does not
///               work within a process, or by a file
/// lets_adapters whether network adapters can read and write some of it
/// is_by_pcie    whether other ranks reach it by PCIe
/// number        the number of the host's GPU that it belongs to, where each rank has its own GPU behind a switch;
///               nullopt: all ranks share one GPU
std::unique_ptr<DeviceMemory> make_fibre_memory(MemoryAccess shares_by, bool lets_adapters,
                                                std::optional<int> number = std::nullopt,
                                                bool is_by_pcie = false);

}  // namespace ringside
