#pragma once

#include <cstddef>

#include "engine/cuda/device/gpu_direct.h"

/// GPUDirect RDMA as CUDA has it.
namespace ringside {

/// source  CUDA Runtime API, cudaDeviceFlushGPUDirectRDMAWrites(): needless where the GPU orders writes for its own kernels
AdapterAccess adapter_access_of(int device);

/// As DeviceMemory::flush_arrived().
Status flush_adapters_writes(int device);

/// Memory of a GPU as a dma-buf; none: the driver exports none, as before CUDA 11.7 and without the open kernel modules.
/// shape  whole pages
UniqueFd dmabuf_of(const std::byte* memory, std::size_t size);

}  // namespace ringside
