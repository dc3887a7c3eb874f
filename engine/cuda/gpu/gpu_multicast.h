#pragma once

#include <memory>

#include "engine/cuda/device/device_multicast.h"
#include "engine/cuda/gpu/gpu_driver.h"

namespace ringside {

/// The driver's functions that only those of CUDA 12.1 and newer have.
/// source  cudaTypedefs.h
#if CUDA_VERSION >= 12010
#define RINGSIDE_GPU_MULTICAST_FUNCTIONS(X) \
  X(cuMulticastCreate, 12010)               \
  X(cuMulticastAddDevice, 12010)            \
  X(cuMulticastBindMem, 12010)              \
  X(cuMulticastGetGranularity, 12010)
#else  // nor has this Toolkit
#define RINGSIDE_GPU_MULTICAST_FUNCTIONS(X)
#endif

struct GpuMulticastDriver {
#define RINGSIDE_MEMBER(name, version) decltype(&::name) name = nullptr;
  RINGSIDE_GPU_MULTICAST_FUNCTIONS(RINGSIDE_MEMBER)
#undef RINGSIDE_MEMBER

  /// Those of this process's driver; null: it has not all of them.
  /// Threads  any
  static const GpuMulticastDriver* find();
};

/// Whether the device can be one of a switch's: on Hopper and later with NVSwitches. Whether the switch takes it then,
/// cuMulticastCreate() and what follows say (the fabric manager has to run).
bool has_gpu_multicast(const GpuDriver& driver, int device);

/// Multicast objects of the driver over memory of this device and others.
/// shape      has_gpu_multicast(), and has_gpu_pages(): what is bound has to be shareable, as the object is; the caller has
///            the device in use
/// Ownership  the driver's functions outlive it
std::unique_ptr<DeviceMulticast> make_gpu_multicast(const GpuDriver& driver,
                                                    const GpuMulticastDriver& multicast,
                                                    int device);

}  // namespace ringside
