#include "engine/cuda/gpu/gpu_sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/cuda/gpu/gpu_error.h"
#include "engine/cuda/gpu/gpu_thread.h"

namespace ringside {
namespace {

DeviceId id_of(int device) {
  cudaDeviceProp properties = {};
  DeviceId id{};
  static_assert(sizeof properties.uuid.bytes == sizeof id);
  if (cudaGetDeviceProperties(&properties, device) == cudaSuccess) {
    std::memcpy(id.data(), properties.uuid.bytes, sizeof id);
  }
  return id;
}

std::vector<DeviceId> all_ids() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  std::vector<DeviceId> ids;
  for (int device = 0; device < count; ++device) ids.push_back(id_of(device));
  return ids;
}

/// Lets kernels of the current device access all memory that cudaMalloc() allocated on the other device.
Status enable_peer(int device) {
  const cudaError_t code = cudaDeviceEnablePeerAccess(device, 0);
  if (code != cudaErrorPeerAccessAlreadyEnabled) {
    return check_cuda(code, "cudaDeviceEnablePeerAccess");
  }
  static_cast<void>(cudaGetLastError());  // otherwise the next launch would return this error
  return {};
}

bool has_attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess && value != 0;
}

}  // namespace

GpuSharing::GpuSharing(int device) : device_(device), ids_(all_ids()) {
  const Result<const GpuDriver*> driver = GpuDriver::find();
  place_.id = ids_.at(static_cast<std::size_t>(device));
  // Processes cannot share memory everywhere, for example not under WSL.
  place_.shares_by_ipc = has_attribute(cudaDevAttrIpcEventSupport, device);
  place_.shares_by_file = driver && has_gpu_pages(**driver, device);
  place_.has_multicast = place_.shares_by_file && has_gpu_multicast(**driver, device);
  if (place_.has_multicast) {
    multicast_ = make_gpu_multicast(**driver, *GpuMulticastDriver::find(), device);
  }
}

GpuSharing::~GpuSharing() {
  const auto here = OnGpu::device(device_);
  for (void* const one : opened_ipc_) static_cast<void>(cudaIpcCloseMemHandle(one));
  multicast_.reset();
  opened_pages_.clear();
  pages_.clear();
  opened_blocks_.clear();
  blocks_.clear();
}

DevicePlace GpuSharing::place() const {
  DevicePlace place = place_;
  place.process = process_identity();
  return place;
}

std::optional<int> GpuSharing::device_with(const DeviceId& id) const {
  const auto found = std::ranges::find(ids_, id);
  if (found == ids_.end()) return std::nullopt;
  return static_cast<int>(found - ids_.begin());
}

bool GpuSharing::reaches(const DeviceId& other) const {
  if (other == DeviceId{} || place_.id == DeviceId{}) return false;
  if (other == place_.id) return true;
  const std::optional<int> device = device_with(other);
  int can = 0;
  return device && cudaDeviceCanAccessPeer(&can, device_, *device) == cudaSuccess && can != 0;
}

bool GpuSharing::keeps_lines(const DeviceId& other) const {
  if (!reaches(other)) return false;
  if (other == place_.id) return true;
  // Between GPUs, only NVLink supports atomics.
  const std::optional<int> device = device_with(other);
  int atomics = 0;
  return device &&
         cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, device_,
                                   *device) == cudaSuccess &&
         atomics != 0;
}

Result<std::byte*> GpuSharing::take(Bytes size, MemoryAccess by) {
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
  if (by == MemoryAccess::File) return take_pages(size);
  // CUDA's IPC shares the whole block from which small allocations are cut, so whole blocks of 2 MiB are allocated.
  constexpr std::uint64_t kBlock = 2 << 20;
  void* memory = nullptr;
  RINGSIDE_TRY(
      check_cuda(cudaMalloc(&memory, (size.value + kBlock - 1) / kBlock * kBlock), "cudaMalloc"));
  blocks_.push_back(offer_memory(static_cast<std::byte*>(memory),
                                 [](std::byte* one) { static_cast<void>(cudaFree(one)); }));
  return blocks_.back().get();
}

Result<std::byte*> GpuSharing::take_pages(Bytes size) {
  RINGSIDE_TRY(const GpuDriver* const driver, GpuDriver::find());
  RINGSIDE_TRY(GpuPages pages, GpuPages::make(*driver, device_, size));
  RINGSIDE_TRY(MappedGpuPages mapped, MappedGpuPages::map(std::move(pages), device_));
  pages_.push_back(std::move(mapped));
  return pages_.back().data();
}

Result<GpuSharing::Allocation> GpuSharing::allocation_of(std::byte* memory) const {
  RINGSIDE_TRY(const GpuDriver* const driver, GpuDriver::find());
  const auto own = std::ranges::find_if(pages_, [&](const MappedGpuPages& one) {
    return memory >= one.data() && memory < one.data() + one.pages().size().value;
  });
  Allocation found;
  if (own != pages_.end()) {
    found.begin = own->data();
    found.size = own->pages().size();
  } else {
    CUdeviceptr begin = 0;
    const CUresult code = driver->cuMemGetAddressRange(&begin, &found.size.value,
                                                       reinterpret_cast<CUdeviceptr>(memory));
    RINGSIDE_TRY(driver->check(code, "cuMemGetAddressRange"));
    found.begin = reinterpret_cast<std::byte*>(begin);
  }
  if (auto pages = GpuPages::at(*driver, found.begin, found.size)) found.pages = *std::move(pages);
  return found;
}

Result<DeviceShare> GpuSharing::share(std::byte* memory, const ProcessIdentity& with) const {
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
  RINGSIDE_TRY(const Allocation there, allocation_of(memory));
  DeviceShare share;
  DeviceHandle& handle = share.handle;
  handle.is_paged = there.pages.has_value();
  handle.is_held = bool{find_memory(there.begin)};
  handle.process = process_identity();
  handle.device = place_.id;
  handle.address = reinterpret_cast<std::uintptr_t>(there.begin);
  handle.size = there.size.value;
  handle.offset = static_cast<std::uint64_t>(memory - there.begin);
  if (with == handle.process) {
    handle.access = MemoryAccess::Address;
  } else if (there.pages) {
    handle.access = MemoryAccess::File;
    RINGSIDE_TRY(share.file, there.pages->file());
  } else {
    cudaIpcMemHandle_t ipc = {};
    static_assert(sizeof ipc == sizeof handle.ipc);
    handle.access = MemoryAccess::Ipc;
    RINGSIDE_TRY(check_cuda(cudaIpcGetMemHandle(&ipc, there.begin), "cudaIpcGetMemHandle"));
    std::memcpy(handle.ipc.data(), &ipc, sizeof ipc);
  }
  return share;
}

Result<std::byte*> GpuSharing::open(const DeviceShare& share) {
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
  RINGSIDE_TRY(std::byte* const begin, open_begin(share));
  return begin + share.handle.offset;
}

Result<std::byte*> GpuSharing::open_begin(const DeviceShare& share) {
  switch (share.handle.access) {
    case MemoryAccess::Address:
      return open_address(share.handle);
    case MemoryAccess::Ipc:
      return open_ipc(share.handle);
    case MemoryAccess::File:
      return open_file(share);
    case MemoryAccess::None:
      break;
  }
  return Error{ErrorCode::Corrupt, "a handle of memory that is not shared",
               "use the same version on every rank"};
}

Result<std::byte*> GpuSharing::open_address(const DeviceHandle& handle) {
  auto* const memory = reinterpret_cast<std::byte*>(handle.address);
  if (handle.process != process_identity()) {
    return Error{
        ErrorCode::Corrupt,
        fmt::format("an address of process {}, which is another one", handle.process.number),
        "use the same version on every rank"};
  }
  if (handle.is_paged) {
    // The mapping has its own reference and address, so the owner may free its mapping first.
    RINGSIDE_TRY(const GpuDriver* const driver, GpuDriver::find());
    RINGSIDE_TRY(GpuPages pages, GpuPages::at(*driver, memory, Bytes{handle.size}));
    return keep(std::move(pages));
  }
  if (handle.device != place_.id) {
    const std::optional<int> device = device_with(handle.device);
    if (!device) return Error{ErrorCode::System, "memory of a GPU that is not there"};
    RINGSIDE_TRY(enable_peer(*device));
  }
  if (handle.is_held) {
    RINGSIDE_TRY(ProcessMemory block, find_memory(memory));
    opened_blocks_.push_back(std::move(block));
  }
  return memory;
}

Result<std::byte*> GpuSharing::open_ipc(const DeviceHandle& handle) {
  cudaIpcMemHandle_t ipc = {};
  void* memory = nullptr;
  std::memcpy(&ipc, handle.ipc.data(), sizeof ipc);
  RINGSIDE_TRY(check_cuda(cudaIpcOpenMemHandle(&memory, ipc, cudaIpcMemLazyEnablePeerAccess),
                          "cudaIpcOpenMemHandle"));
  opened_ipc_.push_back(memory);
  return static_cast<std::byte*>(memory);
}

Result<std::byte*> GpuSharing::open_file(const DeviceShare& share) {
  RINGSIDE_TRY(const GpuDriver* const driver, GpuDriver::find());
  RINGSIDE_TRY(GpuPages pages, GpuPages::open(*driver, share.file, Bytes{share.handle.size}));
  return keep(std::move(pages));
}

Result<std::byte*> GpuSharing::keep(GpuPages pages) {
  RINGSIDE_TRY(MappedGpuPages mapped, MappedGpuPages::map(std::move(pages), device_));
  opened_pages_.push_back(std::move(mapped));
  return opened_pages_.back().data();
}

}  // namespace ringside
