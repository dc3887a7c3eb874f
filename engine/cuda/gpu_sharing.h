#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "engine/cuda/device_share.h"
#include "engine/cuda/gpu_pages.h"

namespace ringside {

/// What a GPU's memory is to other ranks, and theirs to its kernels: DeviceMemory's part of it.
///
/// Threads    one at a time
/// Ownership  what is taken and opened lies there until this object ends
class GpuSharing {
 public:
  explicit GpuSharing(int device);
  GpuSharing(const GpuSharing&) = delete;
  GpuSharing& operator=(const GpuSharing&) = delete;
  ~GpuSharing();

  [[nodiscard]] DevicePlace place() const;
  [[nodiscard]] bool reaches(const DeviceId& other) const;

  /// Memory that goes into other processes as a file; what lies in it is not known.
  /// shape   place().shares_by_file
  /// errors  System: no memory
  Result<std::byte*> take_pages(Bytes size);
  /// memory  of take_pages(), or the beginning of what cudaMalloc() gave
  Result<DeviceShare> share(std::byte* memory, const ProcessIdentity& with) const;
  Result<std::byte*> open(const DeviceShare& share);

 private:
  Result<std::byte*> open_address(const DeviceHandle& handle);
  Result<std::byte*> open_ipc(const DeviceHandle& handle);
  Result<std::byte*> open_file(const DeviceShare& share);
  Result<std::byte*> keep(GpuPages pages);

  int device_;
  DevicePlace place_;  ///< but for its process, which is asked for anew
  std::vector<MappedGpuPages> taken_, opened_;
  std::vector<void*> opened_ipc_;
};

}  // namespace ringside
