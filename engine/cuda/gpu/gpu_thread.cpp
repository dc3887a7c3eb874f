#include "engine/cuda/gpu/gpu_thread.h"

#include "engine/cuda/gpu/gpu_driver.h"
#include "engine/cuda/gpu/gpu_error.h"

namespace ringside {
namespace {

/// Functions of the driver API: restoring with cudaSetDevice() what cudaGetDevice() returned would create a context on
/// GPU 0 for every thread that has none.
struct ContextFunctions {
  decltype(&::cuCtxGetCurrent) get = nullptr;
  decltype(&::cuCtxSetCurrent) set = nullptr;
};

const ContextFunctions& context_functions() {
  static const ContextFunctions found{
      reinterpret_cast<decltype(&::cuCtxGetCurrent)>(find_driver_function("cuCtxGetCurrent", 4000)),
      reinterpret_cast<decltype(&::cuCtxSetCurrent)>(
          find_driver_function("cuCtxSetCurrent", 4000))};
  return found;
}

}  // namespace

OnGpu::OnGpu() {
  const ContextFunctions& of_driver = context_functions();
  if (of_driver.get != nullptr) static_cast<void>(of_driver.get(&before_));
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_));
}

OnGpu::~OnGpu() {
  if (!is_mine_) return;
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_));
  const ContextFunctions& of_driver = context_functions();
  if (of_driver.set != nullptr) static_cast<void>(of_driver.set(before_));
}

Result<OnGpu> OnGpu::device(int device) {
  OnGpu here;
  RINGSIDE_TRY(check_cuda(cudaSetDevice(device), "cudaSetDevice"));
  return here;
}

}  // namespace ringside
