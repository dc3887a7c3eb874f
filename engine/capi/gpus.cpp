#include "engine/capi/gpus.h"

#include <utility>

#include "engine/cuda/process_executor.h"

namespace ringside {

Gpus& gpus_of_process() {
  static Gpus gpus;
  return gpus;
}

ExecutorMaker executor_on_gpu(int device) {
  return [device](const ExecutorSetup& setup) -> Result<std::unique_ptr<Executor>> {
    RINGSIDE_TRY(std::shared_ptr<Gpu> gpu, gpus_of_process().open(device));
    RINGSIDE_TRY(CudaDevice own, device_of(*gpu));
    own.owner = std::move(gpu);
    RINGSIDE_TRY(const CudaProcessOptions options, cuda_process_options());
    return make_cuda_process_executor(own, options, setup);
  };
}

}  // namespace ringside
