#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "base/result.h"

namespace ringside {

/// Reads a few words of a GPU's memory while kernels run on it: on a stream of its own, by a copy engine, into memory
/// that was pinned before. So a read never waits for work that waits for a kernel (an allocation, work of another
/// stream).
///
/// Threads  any
class GpuGlance {
 public:
  explicit GpuGlance(int device);
  ~GpuGlance();
  GpuGlance(const GpuGlance&) = delete;
  GpuGlance& operator=(const GpuGlance&) = delete;

  /// Does the work of DeviceMemory::look().
  Status look(std::span<std::uint64_t> to, const std::byte* from);

 private:
  static constexpr std::size_t kMostBytes = 64;

  const int device_;
  std::mutex mutex_;
  cudaStream_t stream_ = nullptr;
  void* pinned_ = nullptr;  ///< null: it could not be allocated
  bool is_mute_ = false;    ///< a read once did not complete, so no further one is begun
};

}  // namespace ringside
