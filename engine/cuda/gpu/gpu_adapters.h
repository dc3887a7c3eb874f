#pragma once

#include <cstddef>

#include "engine/cuda/device/gpu_direct.h"

/// GPUDirect RDMA through CUDA.
namespace ringside {

/// Returns the access that the GPU permits adapters.
/// source  CUDA Runtime API, cudaDeviceFlushGPUDirectRDMAWrites(): not needed if the GPU orders writes for its own
///         kernels
AdapterAccess adapter_access_of(int device);

/// Does the work of DeviceMemory::flush_arrived().
/// errors  System
Status flush_adapters_writes(int device);

/// Returns GPU memory as a dma-buf; empty: the driver exports none, as before CUDA 11.7 and without the open kernel
/// modules.
/// shape  whole pages
UniqueFd dmabuf_of(const std::byte* memory, std::size_t size);

}  // namespace ringside
