// One kernel for each collective, and one that checks their results. Each collective's kernel compiles the algorithms
// of engine/collectives over CudaPrimitives; a step is one function that all kernels call.
#include "engine/cuda/device/device_check.h"
#include "engine/cuda/device/device_works.h"
#include "engine/cuda/gpu/gpu_machine.cuh"
#include "engine/cuda/gpu/kernels.h"

namespace ringside {
namespace {

/// Runs the blocks of all ranks that share this GPU in one grid, because the blocks wait for each other.
template <Collective kCollective>
__global__ void __launch_bounds__(kMostThreadsOfBlock, 1)
    run_collective(const __grid_constant__ DeviceLaunch launch) {
  GpuMachine machine(launch.is_one_gpu != 0);
  run_device_works<kCollective>(machine, launch, static_cast<int>(blockIdx.x));
}

__global__ void count_wrong_elements(const std::byte* buffer, PlaceTable expected,
                                     unsigned long long* wrong) {
  unsigned long long mine = 0;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < expected.count;
       i += stride) {
    mine += is_as_expected(expected, buffer, i) ? 0 : 1;
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

}  // namespace

const void* kernel_that_checks() { return reinterpret_cast<const void*>(&count_wrong_elements); }

const void* kernel_of(Collective collective) {
  return with_kernel_collective(collective, [](auto constant) {
    return reinterpret_cast<const void*>(&run_collective<constant()>);
  });
}

}  // namespace ringside
