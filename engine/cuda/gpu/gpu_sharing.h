#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "engine/cuda/device/device_share.h"
#include "engine/cuda/device/process_memory.h"
#include "engine/cuda/gpu/gpu_multicast.h"
#include "engine/cuda/gpu/gpu_pages.h"
#include "ringside/units.h"

namespace ringside {

/// Shares a GPU's memory with other ranks, and makes their memory accessible to its kernels: a part of DeviceMemory.
///
/// Threads    one at a time
/// Ownership  allocated and opened memory stays valid until this object is destroyed
class GpuSharing {
 public:
  explicit GpuSharing(int device);
  GpuSharing(const GpuSharing&) = delete;
  GpuSharing& operator=(const GpuSharing&) = delete;
  ~GpuSharing();

  [[nodiscard]] DevicePlace place() const;
  [[nodiscard]] bool reaches(const DeviceId& other) const;
  [[nodiscard]] bool keeps_lines(const DeviceId& other) const;

  /// Allocates as DeviceMemory::take_to_share(), but with undefined content.
  Result<std::byte*> take(Bytes size, MemoryAccess by);
  /// memory  from take(), or from cuMemCreate() or cudaMalloc() in this process
  Result<DeviceShare> share(std::byte* memory, const ProcessIdentity& with) const;
  Result<std::byte*> open(const DeviceShare& share);
  [[nodiscard]] DeviceMulticast* multicast() { return multicast_.get(); }

 private:
  struct Allocation {
    std::byte* begin = nullptr;
    Bytes size;
    std::optional<GpuPages> pages;  ///< empty: allocated by cudaMalloc()
  };

  /// The one around an address.
  [[nodiscard]] Result<Allocation> allocation_of(std::byte* memory) const;
  /// Returns this process's number of that GPU; nullopt: it does not see the GPU.
  [[nodiscard]] std::optional<int> device_with(const DeviceId& id) const;
  Result<std::byte*> take_pages(Bytes size);
  Result<std::byte*> open_begin(const DeviceShare& share);
  Result<std::byte*> open_address(const DeviceHandle& handle);
  Result<std::byte*> open_ipc(const DeviceHandle& handle);
  Result<std::byte*> open_file(const DeviceShare& share);
  Result<std::byte*> keep(GpuPages pages);

  int device_;
  const std::vector<DeviceId> ids_;  ///< [number of the GPU in this process]
  DevicePlace place_;                ///< except for the process identity, which is read each time
  std::vector<MappedGpuPages> pages_, opened_pages_;
  std::vector<ProcessMemory> blocks_, opened_blocks_;  ///< allocated by cudaMalloc()
  std::vector<void*> opened_ipc_;
  std::unique_ptr<DeviceMulticast> multicast_;  ///< null: the device has no multicast
};

}  // namespace ringside
