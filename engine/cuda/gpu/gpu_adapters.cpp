#include "engine/cuda/gpu/gpu_adapters.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "engine/cuda/gpu/gpu_driver.h"
#include "engine/cuda/gpu/gpu_error.h"
#include "engine/cuda/gpu/gpu_thread.h"

namespace ringside {
namespace {

int attribute_of(int device, cudaDeviceAttr attribute) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess ? value : 0;
}

/// Returns the PCI address in the kernel's notation.
std::string place_on_pci(int device) {
  std::array<char, 32> text{};
  if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device) != cudaSuccess) {
    return "";
  }
  std::string place = text.data();
  std::ranges::transform(place, place.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return place;
}

AdapterAccess::Flush flush_of(int device) {
  if (attribute_of(device, cudaDevAttrGPUDirectRDMAWritesOrdering) >=
      cudaGPUDirectRDMAWritesOrderingOwner) {
    return AdapterAccess::Flush::Needless;
  }
  const int options = attribute_of(device, cudaDevAttrGPUDirectRDMAFlushWritesOptions);
  const bool is_offered = (options & cudaFlushGPUDirectRDMAWritesOptionHost) != 0;
  return is_offered ? AdapterAccess::Flush::ByHost : AdapterAccess::Flush::None;
}

/// Returns how many GPUs this process sees.
int visible_gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

bool has_nvlink_peer(int device) {
  for (int other = 0; other < visible_gpus(); ++other) {
    if (other == device) continue;
    // Between GPUs, only NVLink supports atomics.
    int atomics = 0;
    const cudaError_t status =
        cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, device, other);
    if (status == cudaSuccess && atomics != 0) return true;
  }
  return false;
}

}  // namespace

AdapterAccess adapter_access_of(int device) {
  return {.is_there = attribute_of(device, cudaDevAttrGPUDirectRDMASupported) != 0,
          .place = place_on_pci(device),
          .compute_capability = 10 * attribute_of(device, cudaDevAttrComputeCapabilityMajor) +
                                attribute_of(device, cudaDevAttrComputeCapabilityMinor),
          .flush = flush_of(device),
          .has_nvlink_peer = has_nvlink_peer(device),
          .is_only_gpu = visible_gpus() == 1};
}

Status flush_adapters_writes(int device) {
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device));
  return check_cuda(
      cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                         cudaFlushGPUDirectRDMAWritesToOwner),
      "cudaDeviceFlushGPUDirectRDMAWrites");
}

UniqueFd dmabuf_of(const std::byte* memory, std::size_t size) {
  const Result<const GpuDriver*> driver = GpuDriver::find();
  int fd = -1;
  if (!driver || (*driver)->cuMemGetHandleForAddressRange(
                     &fd, reinterpret_cast<CUdeviceptr>(memory), size,
                     CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0) != CUDA_SUCCESS) {
    return {};
  }
  return UniqueFd(fd);
}

}  // namespace ringside
