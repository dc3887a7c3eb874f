#pragma once

#include <cuda.h>

#include "base/result.h"

namespace ringside {

/// The driver's functions that the runtime has no counterpart of, and the version of CUDA whose signature is meant.
/// To add one: a line here.
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

/// A function of the driver, as that version of CUDA has it.
/// returns  null: there is none
void* find_driver_function(const char* name, unsigned version);

/// These, by their names: found in the driver when they are first asked for, as the runtime finds its own.
/// So nothing links libcuda, and the program starts where there is none.
struct GpuDriver {
#define RINGSIDE_MEMBER(name, version) decltype(&::name) name = nullptr;
  RINGSIDE_GPU_DRIVER_FUNCTIONS(RINGSIDE_MEMBER)
#undef RINGSIDE_MEMBER

  /// The one of this process.
  /// Threads  any
  /// errors   System: no driver, or it has not all of them
  static Result<const GpuDriver*> find();

  /// errors  System: what was called, and what the driver says of it
  [[nodiscard]] Status check(CUresult code, const char* what) const;

  /// An attribute of the device that the runtime gives this number; 0 where it cannot be asked.
  [[nodiscard]] int attribute(CUdevice_attribute which, int device) const;
};

}  // namespace ringside
