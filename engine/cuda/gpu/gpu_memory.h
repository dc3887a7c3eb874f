#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "engine/cuda/device/device_memory.h"
#include "engine/cuda/gpu/gpu_adapters.h"
#include "engine/cuda/gpu/gpu_glance.h"
#include "engine/cuda/gpu/gpu_sharing.h"

namespace ringside {

/// Memory of a GPU, host memory that the GPU can also access, and (GpuSharing) memory of other ranks' GPUs. Copies use
/// the stream, and each call waits for its copy.
class GpuMemory final : public DeviceMemory {
 public:
  GpuMemory(int device, cudaStream_t stream)
      : device_(device),
        stream_(stream),
        sharing_(device),
        adapters_(adapter_access_of(device)),
        glance_(device) {}
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  ~GpuMemory() override;

  Result<std::byte*> take(Bytes size) override;
  Result<std::byte*> take_shared(Bytes size) override;
  Status write(std::byte* to, std::span<const std::byte> from) override {
    return move(to, from.data(), from.size(), cudaMemcpyHostToDevice);
  }
  Status read(std::span<std::byte> to, const std::byte* from) override {
    return move(to.data(), from, to.size(), cudaMemcpyDeviceToHost);
  }
  Status look(std::span<std::uint64_t> to, const std::byte* from) override {
    return glance_.look(to, from);
  }
  Result<std::int64_t> count_wrong(const std::byte* buffer, const PlaceTable& expected) override;

  Result<std::byte*> map(std::span<std::byte> pages) override;
  void unmap(std::span<std::byte> pages) noexcept override;

  [[nodiscard]] DevicePlace place() const override { return sharing_.place(); }
  [[nodiscard]] bool reaches(const DeviceId& other) const override {
    return sharing_.reaches(other);
  }
  [[nodiscard]] bool keeps_lines(const DeviceId& other) const override {
    return sharing_.keeps_lines(other);
  }
  Result<std::byte*> take_to_share(Bytes size, MemoryAccess by) override;
  Result<DeviceShare> share(std::byte* memory, const ProcessIdentity& with) override {
    return sharing_.share(memory, with);
  }
  Result<std::byte*> open(const DeviceShare& share) override { return sharing_.open(share); }
  DeviceMulticast* multicast() override { return sharing_.multicast(); }

  [[nodiscard]] AdapterAccess adapter_access() const override { return adapters_; }
  Result<AdapterMemory> take_for_adapters(Bytes size) override;
  Status flush_arrived() override { return flush_adapters_writes(device_); }

 private:
  Status move(void* to, const void* from, std::size_t size, cudaMemcpyKind kind);
  Status clear(void* memory, std::size_t size);

  int device_;
  cudaStream_t stream_;
  GpuSharing sharing_;
  const AdapterAccess adapters_;
  GpuGlance glance_;
  std::byte* counter_ = nullptr;  ///< counter of wrong elements; null before the first count
  std::vector<void*> taken_, shared_;
};

}  // namespace ringside
