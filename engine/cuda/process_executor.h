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

/// Makes an executor whose launches contain the blocks of this rank alone. ProcessLinks connects them with the kernels
/// of other ranks. While launches run, a thread serves the proxies (ProxyServer).
///
/// Consecutive calls become one launch if LaunchBatch permits it. A call that names a stream is launched on that
/// stream. Plans and slots stay in the device's memory as long as a launch or a graph uses them, so the user must keep
/// the communicator until a captured graph is no longer run. With a trace, an equal call waits for the preceding one.
///
/// device  the objects that it refers to outlive the executor; kernels of its queue may wait for those of other ranks
/// errors  as ProcessLinks::make()
Result<std::unique_ptr<Executor>> make_cuda_process_executor(const CudaDevice& device,
                                                             const CudaProcessOptions& options,
                                                             const ExecutorSetup& setup);

}  // namespace ringside
