#pragma once

#include <cuda.h>

#include "base/result.h"

namespace ringside {

/// The driver's functions that have no counterpart in the runtime, and the CUDA version that defines the signature. To
/// add one, add a line here.
/// source  cudaTypedefs.h
#define RINGSIDE_GPU_DRIVER_FUNCTIONS(X)   \
  X(cuGetErrorString, 6000)                \
  X(cuDeviceGet, 2000)                     \
  X(cuDeviceGetAttribute, 2000)            \
  X(cuMemGetAddressRange, 3020)            \
  X(cuMemGetHandleForAddressRange, 11070)  \
  X(cuMemCreate, 10020)                    \
  X(cuMemRelease, 10020)                   \
  X(cuMemGetAllocationGranularity, 10020)  \
  X(cuMemExportToShareableHandle, 10020)   \
  X(cuMemImportFromShareableHandle, 10020) \
  X(cuMemRetainAllocationHandle, 11000)    \
  X(cuMemAddressReserve, 10020)            \
  X(cuMemAddressFree, 10020)               \
  X(cuMemMap, 10020)                       \
  X(cuMemUnmap, 10020)                     \
  X(cuMemSetAccess, 10020)

/// Returns a function of the driver with the signature of that CUDA version.
/// returns  null: there is none
void* find_driver_function(const char* name, unsigned version);

/// The functions above by name. They are looked up in the driver on first use, as the runtime does, so the program
/// does not link libcuda and also starts without a driver.
struct GpuDriver {
#define RINGSIDE_MEMBER(name, version) decltype(&::name) name = nullptr;
  RINGSIDE_GPU_DRIVER_FUNCTIONS(RINGSIDE_MEMBER)
#undef RINGSIDE_MEMBER

  /// Returns the functions of this process's driver.
  /// Threads  any
  /// errors   System: there is no driver, or a function is missing
  static Result<const GpuDriver*> find();

  /// errors  System: names the call, and the driver's text for the error
  [[nodiscard]] Status check(CUresult code, const char* what) const;

  /// Returns an attribute of a device; 0 if it cannot be read.
  /// device  its number in CUDA's runtime
  [[nodiscard]] int attribute(CUdevice_attribute which, int device) const;
};

}  // namespace ringside
