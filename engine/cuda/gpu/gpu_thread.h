#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <utility>

#include "base/result.h"

namespace ringside {

/// While it lives, calls of CUDA's runtime by this thread use one device, and may allocate, wait and query while
/// another thread captures a stream in any mode (cudaStreamCaptureModeGlobal would forbid that to all threads): none
/// of these calls gets into that capture. The destructor restores the previous state, because the thread may be the
/// user's.
///
/// shape  objects of one thread are destroyed in reverse order
class OnGpu {
 public:
  /// errors  System
  static Result<OnGpu> device(int device);

  OnGpu(OnGpu&& other) noexcept
      : before_(other.before_),
        mode_(other.mode_),
        is_mine_(std::exchange(other.is_mine_, false)) {}
  OnGpu& operator=(OnGpu&&) = delete;
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  ~OnGpu();

 private:
  OnGpu();
  CUcontext before_ = nullptr;  ///< null: the thread had none
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
  bool is_mine_ = true;
};

}  // namespace ringside
