#pragma once

#include <memory>

#include "base/env.h"
#include "engine/cuda/cuda_executor.h"
#include "engine/cuda/links/process_links.h"
#include "engine/runtime/calls/executor.h"

namespace ringside {

/// How ranks whose kernels are launched separately access each other: processes, or threads with a GPU each. Every
/// rank passes equal options.
struct CudaProcessOptions {
  const Transport* transport = nullptr;  ///< transport between ranks; null: the fastest available
  MemorySettings memory = {};
  bool registers = true;  ///< false: register_buffer() has no effect. Equal on all ranks
};

/// Reads the options from NCCL's variables: NCCL_P2P_DISABLE=1: no GPU memory is opened; NCCL_CUMEM_ENABLE: by files
/// (1), by CUDA IPC (0), or as available (-2); NCCL_NVLS_ENABLE=0: no switch reduces; those of GPUDirect, as
/// gpu_direct_settings(); NCCL_LOCAL_REGISTER=0 or NCCL_P2P_DIRECT_DISABLE=1: registered buffers are treated as
/// others.
/// errors  InvalidArgument: a value is invalid
Result<CudaProcessOptions> cuda_process_options(const Transport* transport = nullptr,
                                                const Environment& environment = env_text);

/// Runs calls in kernels of this rank's own, each launch one rank's blocks. What joins them to the other ranks' is
/// ProcessLinks'; while launches are under way, a thread works on what proxies there are.
///
/// Calls that follow each other are one launch where LaunchBatch lets them. A call that names a stream is launched there.
/// What a launch or a graph uses stays in the device's memory until that ends, and the user of a graph keeps the
/// communicator until it is done. With a trace, each call is waited for before it is made again.
///
/// device  what it refers to outlives the executor; what its queue begins may wait for the kernels of other ranks
/// errors  as ProcessLinks::make()
Result<std::unique_ptr<Executor>> make_cuda_process_executor(const CudaDevice& device,
                                                             const CudaProcessOptions& options,
                                                             const ExecutorSetup& setup);

}  // namespace ringside
