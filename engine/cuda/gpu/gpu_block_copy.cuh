#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/device/device_call.h"

namespace ringside {

/// Copies the block and the tables of its ends to shared memory, with all threads of the block, after a barrier if
/// there was a block before. A load takes as long as a message within the GPU, and each acquire discards the
/// first-level cache. So the data that a step looks up is loaded once, in two rounds, because the first round reads
/// where the tables are.
__device__ inline const DeviceBlock& gpu_block_copy(const DeviceBlock& from) {
  constexpr unsigned kWords = sizeof(DeviceBlock) / sizeof(std::uint64_t);
  constexpr std::int64_t kMostLines = 160;  // 16 ends on each side; larger tables are not copied
  __shared__ std::uint64_t words[kWords];
  __shared__ ulonglong2 lines[kMostLines];
  for (unsigned i = threadIdx.x; i < kWords; i += blockDim.x) {
    words[i] = reinterpret_cast<const std::uint64_t*>(&from)[i];
  }
  __syncthreads();
  auto& block = *reinterpret_cast<DeviceBlock*>(words);
  const std::int64_t count = block.ends_bytes / static_cast<std::int64_t>(sizeof(ulonglong2));
  if (count <= kMostLines) {
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
      lines[i] = reinterpret_cast<const ulonglong2*>(block.ends)[i];
    }
    if (threadIdx.x == 0) use_copied_ends(block, reinterpret_cast<const std::byte*>(lines));
  }
  __syncthreads();
  return block;
}

}  // namespace ringside
