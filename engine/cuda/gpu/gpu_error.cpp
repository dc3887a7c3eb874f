#include "engine/cuda/gpu/gpu_error.h"

#include <fmt/format.h>

namespace ringside {

Status check_cuda(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return {};
  // Otherwise the next caller that reads the thread's last error, for example the user's program, would get this one.
  static_cast<void>(cudaGetLastError());
  return Error{ErrorCode::System, fmt::format("{}: {}", what, cudaGetErrorString(code)), ""};
}

Error no_gpu(cudaError_t code) {
  int driver = 0;
  const bool has_driver = cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
  if (!has_driver) {
    return {ErrorCode::System, "no NVIDIA driver on this host",
            "install one (libcuda.so.1), or run on a host that has a GPU"};
  }
  if (code == cudaErrorInsufficientDriver) {
    return {ErrorCode::System,
            fmt::format("the driver supports CUDA {}.{}, this build needs {}.{}", driver / 1000,
                        driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10),
            "install a newer driver"};
  }
  return {ErrorCode::System, fmt::format("no GPU: {}", cudaGetErrorString(code)),
          "run on a host that has one; CUDA_VISIBLE_DEVICES may hide it"};
}

}  // namespace ringside
