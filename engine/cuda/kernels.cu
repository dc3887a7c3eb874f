// One kernel a collective. Each compiles the texts of engine/collectives over CudaPrimitives; what a step does stands
// in one function that all of them call.
#include "engine/cuda/cuda_primitives.h"
#include "engine/cuda/gpu_machine.cuh"
#include "engine/cuda/kernels.h"

namespace ringside {
namespace {

/// Blocks of all ranks that share this GPU, in one grid: they wait for each other.
template <Collective kCollective>
__global__ void __launch_bounds__(kMostThreadsOfBlock, 1) run_collective(DeviceLaunch launch) {
  const DeviceBlock& block = launch.blocks[blockIdx.x];
  if (block.rank == launch.absent_rank) return;
  GpuMachine machine(launch.warps_per_strand, launch.is_one_gpu != 0);
  run_device_block<kCollective>(machine, block, launch.buffers[block.place]);
}

}  // namespace

const void* kernel_of(Collective collective) {
  return with_kernel_collective(collective, [](auto constant) {
    return reinterpret_cast<const void*>(&run_collective<constant()>);
  });
}

}  // namespace ringside
