#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <utility>

#include "base/result.h"

namespace ringside {

/// For as long as it lives, calls of CUDA's runtime by this thread mean a device, and may allocate, wait and ask while
/// another thread captures a stream, whatever its mode (cudaStreamCaptureModeGlobal forbids that to all threads): nothing
/// of it can get into that capture. Behind it all is as it was, since the thread may be the user's.
///
/// shape  the youngest of a thread goes first
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
  CUcontext before_ = nullptr;  ///< the thread had none: null
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
  bool is_mine_ = true;
};

}  // namespace ringside
