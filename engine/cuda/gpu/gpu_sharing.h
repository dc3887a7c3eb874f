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
  [[nodiscard]] bool keeps_lines(const DeviceId& other) const;

  /// As DeviceMemory::take_to_share(), but what lies in it is not known.
  Result<std::byte*> take(Bytes size, MemoryWay by);
  /// memory  of take(), or any other that cuMemCreate() or cudaMalloc() of this process gave
  Result<DeviceShare> share(std::byte* memory, const ProcessIdentity& with) const;
  Result<std::byte*> open(const DeviceShare& share);
  [[nodiscard]] DeviceMulticast* multicast() { return multicast_.get(); }

 private:
  struct Allocation {
    std::byte* begin = nullptr;
    Bytes size;
    std::optional<GpuPages> pages;  ///< none: cudaMalloc()'s
  };

  /// The one around an address.
  [[nodiscard]] Result<Allocation> allocation_of(std::byte* memory) const;
  /// What this process numbers that GPU; none: it does not see it.
  [[nodiscard]] std::optional<int> device_with(const DeviceId& id) const;
  Result<std::byte*> take_pages(Bytes size);
  Result<std::byte*> open_begin(const DeviceShare& share);
  Result<std::byte*> open_address(const DeviceHandle& handle);
  Result<std::byte*> open_ipc(const DeviceHandle& handle);
  Result<std::byte*> open_file(const DeviceShare& share);
  Result<std::byte*> keep(GpuPages pages);

  int device_;
  const std::vector<DeviceId> ids_;  ///< of all GPUs that this process sees, by its numbers
  DevicePlace place_;                ///< but for its process, which is asked for anew
  std::vector<MappedGpuPages> pages_, opened_pages_;
  std::vector<ProcessMemory> blocks_, opened_blocks_;  ///< of cudaMalloc()
  std::vector<void*> opened_ipc_;
  std::unique_ptr<DeviceMulticast> multicast_;  ///< null: the device has none
};

}  // namespace ringside
