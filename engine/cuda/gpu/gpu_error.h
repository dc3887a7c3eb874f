#pragma once

#include <cuda_runtime_api.h>

#include "base/result.h"

/// Error handling of calls to CUDA's runtime.
namespace ringside {

/// errors  System: names the call, and the runtime's text for the error
Status check_cuda(cudaError_t code, const char* what);

/// Returns the reason why this process cannot use a GPU, from the result of cudaGetDeviceCount().
Error no_gpu(cudaError_t code);

}  // namespace ringside
