// The instructions that kernels use for a switch, alone in a file: it is compiled for GPUs that have such
// instructions, and for some that do not.
#include "engine/cuda/gpu/gpu_multimem.cuh"

namespace ringside {

__global__ void ringside_reduce_and_multicast(DeviceReduction reduction, const std::byte* from,
                                              std::byte* to) {
  Pack sums[2];
  gpu_multimem::fence_aliases();
  gpu_multimem::load_reduced(reduction, from, 16, sums);
  gpu_multimem::multicast_pack(to, sums[threadIdx.x % 2]);
}

}  // namespace ringside
