#include "harness/gpu_processes.h"

#include <algorithm>

#include "engine/cuda/nccl_executor.h"
#include "engine/cuda/process_executor.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/bootstrap/launch.h"

namespace ringside {
namespace {

/// Returns the GPU of the host that a rank uses.
Result<int> gpu_of(Rank rank) {
  RINGSIDE_TRY(const std::optional<LaunchInfo> launched, launch_from_environment());
  const int place = launched ? launched->local_rank.value_or(launched->rank) : to_int(rank);
  return place % std::max(1, Gpu::count());
}

}  // namespace

ExecutorMaker gpu_process_executor(std::unique_ptr<Gpu>& gpu, const Transport* transport) {
  return [&gpu, transport](const ExecutorSetup& setup) -> Result<std::unique_ptr<Executor>> {
    RINGSIDE_TRY(const int device, gpu_of(setup.bootstrap.rank()));
    RINGSIDE_TRY(gpu, Gpu::open(device));
    RINGSIDE_TRY(const CudaDevice own, device_of(*gpu));
    RINGSIDE_TRY(const CudaProcessOptions options, cuda_process_options(transport));
    return make_cuda_process_executor(own, options, setup);
  };
}

ExecutorMaker gpu_nccl_executor(std::unique_ptr<Gpu>& gpu) {
  return [&gpu](const ExecutorSetup& setup) -> Result<std::unique_ptr<Executor>> {
    // Loaded once and never unloaded, because the library has threads of its own.
    static const Result<NcclLibrary> library = NcclLibrary::open();
    if (!library) return library.error();
    RINGSIDE_TRY(const int device, gpu_of(setup.bootstrap.rank()));
    RINGSIDE_TRY(gpu, Gpu::open(device));
    RINGSIDE_TRY(Gpu::set_current(device));  // NCCL uses the current device
    return make_nccl_executor(*library, {gpu->stream(), [&gpu] { return gpu->is_idle(); }}, setup);
  };
}

}  // namespace ringside
