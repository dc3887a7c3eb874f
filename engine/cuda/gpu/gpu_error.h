#pragma once

#include <cuda_runtime_api.h>

#include "base/result.h"

/// What calls of CUDA's runtime have in common.
namespace ringside {

/// errors  System: what was called, and what the runtime says of it
Status check_cuda(cudaError_t code, const char* what);

/// Returns the reason why this process cannot use a GPU, from the result of cudaGetDeviceCount().
Error no_gpu(cudaError_t code);

}  // namespace ringside
