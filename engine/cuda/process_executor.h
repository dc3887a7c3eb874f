#pragma once

#include <functional>
#include <memory>

#include "engine/cuda/cuda_executor.h"
#include "engine/runtime/executor.h"

namespace ringside {

/// How ranks whose kernels are launched by a process each reach one another. Every rank gives the same.
struct CudaProcessOptions {
  const Transport* transport = nullptr;  ///< between processes; null: the fastest that there is
  /// Whether processes open each other's memory of GPUs, as NCCL_P2P_DISABLE says unless it is 1.
  bool opens_memory = true;
};

/// errors  InvalidArgument: NCCL_P2P_DISABLE is no number
Result<CudaProcessOptions> cuda_process_options(const Transport* transport = nullptr);

/// Runs calls in kernels of this rank's own, each launch one rank's blocks. What joins them to the other ranks' is
/// ProcessLinks'; a launch whose connections have proxies has a thread of its own work on these until it has ended.
///
/// device  outlives the executor; what `run` begins may wait for the kernels of other ranks
/// errors  as ProcessLinks::make()
Result<std::unique_ptr<Executor>> make_cuda_process_executor(const CudaDevice& device,
                                                             const CudaProcessOptions& options,
                                                             const ExecutorSetup& setup);

}  // namespace ringside
