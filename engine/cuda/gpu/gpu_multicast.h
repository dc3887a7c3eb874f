#pragma once

#include <memory>

#include "engine/cuda/device/device_multicast.h"
#include "engine/cuda/gpu/gpu_driver.h"

namespace ringside {

/// The driver's functions that exist from CUDA 12.1 on.
/// source  cudaTypedefs.h
#if CUDA_VERSION >= 12010
#define RINGSIDE_GPU_MULTICAST_FUNCTIONS(X) \
  X(cuMulticastCreate, 12010)               \
  X(cuMulticastAddDevice, 12010)            \
  X(cuMulticastBindMem, 12010)              \
  X(cuMulticastGetGranularity, 12010)
#else  // this CUDA Toolkit does not declare them
#define RINGSIDE_GPU_MULTICAST_FUNCTIONS(X)
#endif

/// These functions by name, as in GpuDriver.
struct GpuMulticastDriver {
#define RINGSIDE_MEMBER(name, version) decltype(&::name) name = nullptr;
  RINGSIDE_GPU_MULTICAST_FUNCTIONS(RINGSIDE_MEMBER)
#undef RINGSIDE_MEMBER

  /// Returns the functions of this process's driver; null: some are missing.
  /// Threads  any
  static const GpuMulticastDriver* find();
};

/// Returns whether the device supports multicast: Hopper and later, with NVSwitches. Creating or binding an object may
/// still fail, for example if the fabric manager does not run.
bool has_gpu_multicast(const GpuDriver& driver, int device);

/// Makes the driver's multicast objects over memory of this device and others.
///
/// shape      has_gpu_multicast(), and has_gpu_pages(), because both the bound memory and the object must be
///            shareable; the caller has made the device current
/// Ownership  the driver's functions outlive it
std::unique_ptr<DeviceMulticast> make_gpu_multicast(const GpuDriver& driver,
                                                    const GpuMulticastDriver& multicast,
                                                    int device);

}  // namespace ringside
