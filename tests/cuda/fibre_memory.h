#pragma once

#include <memory>

#include "engine/cuda/device_memory.h"

namespace ringside {

/// What fibres have for a device's memory: this process's.
/// is_shared  whether other ranks of the host reach it: by address, by a path that stands for CUDA's IPC (and, as that,
///            does not work within a process), or by a file
std::unique_ptr<DeviceMemory> make_fibre_memory(bool is_shared);

}  // namespace ringside
