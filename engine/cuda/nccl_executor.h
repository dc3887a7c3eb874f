#pragma once

#include <functional>
#include <memory>

#include "engine/cuda/nccl_library.h"
#include "engine/runtime/calls/executor.h"

namespace ringside {

/// The stream on which NCCL's kernels are enqueued, on this thread's current GPU.
struct NcclStream {
  NcclLibrary::Stream stream = nullptr;
  /// Returns whether all that was enqueued has ended.
  /// errors  System: work on the GPU failed
  std::function<Result<bool>()> is_idle;
};

/// Runs the calls with NCCL: all_reduce, broadcast, reduce, all_gather and reduce_scatter. Each call waits for its end.
/// NCCL chooses the algorithm, so choose() returns only the collective, or Unsupported for another call or for
/// RedOp::PreMulSum. Rank 0's id is sent to the others over the bootstrap's ring.
///
/// library, stream  outlive the executor
/// errors           InvalidArgument: call settings.  System: NCCL's error. If a rank dies while NCCL's communicator is
///                  made, the others keep waiting in NCCL, and the launcher must end them
Result<std::unique_ptr<Executor>> make_nccl_executor(const NcclLibrary& library,
                                                     const NcclStream& stream,
                                                     const ExecutorSetup& setup);

}  // namespace ringside
