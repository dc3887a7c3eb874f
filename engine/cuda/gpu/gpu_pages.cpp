#include "engine/cuda/gpu/gpu_pages.h"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <numeric>

namespace ringside {
namespace {

CUdeviceptr address_of(const std::byte* data) { return reinterpret_cast<CUdeviceptr>(data); }

CUmemAllocationProp pages_of(const GpuDriver& driver, int device) {
  CUmemAllocationProp pages = {};
  pages.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  pages.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  pages.location = {};
  pages.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  pages.location.id = device;
  // Network adapters accept such memory only if it is allocated with this flag.
  pages.allocFlags.gpuDirectRDMACapable = static_cast<unsigned char>(
      driver.attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, device) != 0);
  return pages;
}

}  // namespace

bool has_gpu_pages(const GpuDriver& driver, int device) {
  constexpr int kOldestDriver = 12000;
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess && version >= kOldestDriver &&
         driver.attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device) != 0 &&
         driver.attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                          device) != 0;
}

GpuPages::~GpuPages() {
  if (driver_ != nullptr) static_cast<void>(driver_->cuMemRelease(handle_));
}

Result<GpuPages> GpuPages::make(const GpuDriver& driver, int device, Bytes size,
                                Bytes multiple_of) {
  const CUmemAllocationProp wanted = pages_of(driver, device);
  std::size_t granularity = 0;
  RINGSIDE_TRY(driver.check(
      driver.cuMemGetAllocationGranularity(&granularity, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
      "cuMemGetAllocationGranularity"));
  const std::size_t unit = std::lcm(granularity, multiple_of.value);
  const std::size_t whole = (size.value + unit - 1) / unit * unit;
  CUmemGenericAllocationHandle handle = 0;
  RINGSIDE_TRY(driver.check(driver.cuMemCreate(&handle, whole, &wanted, 0),
                            fmt::format("cuMemCreate of {} bytes", whole).c_str()));
  return GpuPages(driver, handle, Bytes{whole});
}

Result<GpuPages> GpuPages::open(const GpuDriver& driver, const UniqueFd& file, Bytes size) {
  CUmemGenericAllocationHandle handle = 0;
  // The file descriptor itself is passed where other types of handles pass a pointer.
  auto* const number = reinterpret_cast<void*>(static_cast<std::uintptr_t>(file.get()));
  RINGSIDE_TRY(driver.check(driver.cuMemImportFromShareableHandle(
                                &handle, number, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                            "cuMemImportFromShareableHandle"));
  return GpuPages(driver, handle, size);
}

Result<GpuPages> GpuPages::at(const GpuDriver& driver, std::byte* address, Bytes size) {
  CUmemGenericAllocationHandle handle = 0;
  RINGSIDE_TRY(driver.check(driver.cuMemRetainAllocationHandle(&handle, address),
                            "cuMemRetainAllocationHandle"));
  return GpuPages(driver, handle, size);
}

Result<UniqueFd> GpuPages::file() const {
  int number = -1;
  RINGSIDE_TRY(driver_->check(driver_->cuMemExportToShareableHandle(
                                  &number, handle_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                              "cuMemExportToShareableHandle"));
  UniqueFd file(number);
  static_cast<void>(::fcntl(file.get(), F_SETFD, FD_CLOEXEC));
  return file;
}

Result<MappedGpuPages> MappedGpuPages::map(GpuPages pages, int device) {
  const GpuDriver& driver = pages.driver();
  const std::size_t size = pages.size().value;
  CUdeviceptr data = 0;
  RINGSIDE_TRY(
      driver.check(driver.cuMemAddressReserve(&data, size, 0, 0, 0), "cuMemAddressReserve"));
  const Status mapped = driver.check(driver.cuMemMap(data, size, 0, pages.handle(), 0), "cuMemMap");
  if (!mapped) {
    static_cast<void>(driver.cuMemAddressFree(data, size));
    return mapped.error();
  }
  MappedGpuPages made(std::move(pages), reinterpret_cast<std::byte*>(data));
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  RINGSIDE_TRY(driver.check(driver.cuMemSetAccess(data, size, &access, 1), "cuMemSetAccess"));
  return made;
}

MappedGpuPages::~MappedGpuPages() {
  if (data_ == nullptr) return;
  const GpuDriver& driver = pages_.driver();
  static_cast<void>(driver.cuMemUnmap(address_of(data_), pages_.size().value));
  static_cast<void>(driver.cuMemAddressFree(address_of(data_), pages_.size().value));
}

}  // namespace ringside
