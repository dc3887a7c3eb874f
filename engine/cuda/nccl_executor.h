#pragma once

#include <functional>
#include <memory>

#include "engine/cuda/nccl_library.h"
#include "engine/runtime/calls/executor.h"

namespace ringside {

/// Where NCCL's kernels are enqueued: a stream of the GPU that is this thread's.
struct NcclStream {
  NcclLibrary::Stream stream = nullptr;
  /// Whether all that was enqueued has ended.
  /// errors  System: of whatever has failed since
  std::function<Result<bool>()> is_idle;
};

/// Has NCCL run the calls: all_reduce, broadcast, reduce, all_gather and reduce_scatter, each waited for. How is its
/// own affair, so choose() says nothing. Rank 0's id goes to the others over the bootstrap's ring.
///
/// library, stream  outlive the executor
/// errors           InvalidArgument: call settings.  System: what NCCL says. A rank that dies while NCCL's communicator is made
///                  leaves the others waiting in NCCL: the launcher has to end them
Result<std::unique_ptr<Executor>> make_nccl_executor(const NcclLibrary& library,
                                                     const NcclStream& stream,
                                                     const ExecutorSetup& setup);

}  // namespace ringside
