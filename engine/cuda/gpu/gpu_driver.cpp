#include "engine/cuda/gpu/gpu_driver.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace ringside {

void* find_driver_function(const char* name, [[maybe_unused]] unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult outcome = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &outcome);
#else  // these toolkits have no choice of the version: it is the toolkit's own
  const cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &outcome);
#endif
  return code == cudaSuccess && outcome == cudaDriverEntryPointSuccess ? found : nullptr;
}

namespace {

Result<GpuDriver> find_functions() {
  GpuDriver driver;
#define RINGSIDE_FIND(name, version)                                                           \
  driver.name = reinterpret_cast<decltype(driver.name)>(find_driver_function(#name, version)); \
  if (driver.name == nullptr) {                                                                \
    return Error{ErrorCode::System, fmt::format("the driver has no {}", #name),                \
                 "install a newer driver; NCCL_CUMEM_ENABLE=0 shares memory by CUDA IPC"};     \
  }
  RINGSIDE_GPU_DRIVER_FUNCTIONS(RINGSIDE_FIND)
#undef RINGSIDE_FIND
  return driver;
}

}  // namespace

Result<const GpuDriver*> GpuDriver::find() {
  static const Result<GpuDriver> found = find_functions();
  if (!found) return found.error();
  return &*found;
}

Status GpuDriver::check(CUresult code, const char* what) const {
  if (code == CUDA_SUCCESS) return {};
  const char* text = nullptr;
  if (cuGetErrorString(code, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  return Error{ErrorCode::System,
               fmt::format("{}: {} (error {} of the driver)", what, text, static_cast<int>(code)),
               ""};
}

int GpuDriver::attribute(CUdevice_attribute which, int device) const {
  CUdevice handle = 0;
  int value = 0;
  if (cuDeviceGet(&handle, device) != CUDA_SUCCESS) return 0;
  return cuDeviceGetAttribute(&value, which, handle) == CUDA_SUCCESS ? value : 0;
}

}  // namespace ringside
