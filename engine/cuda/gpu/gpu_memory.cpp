#include "engine/cuda/gpu/gpu_memory.h"

#include <algorithm>
#include <cstring>

#include "engine/cuda/gpu/gpu_error.h"
#include "engine/cuda/gpu/gpu_thread.h"
#include "engine/cuda/gpu/kernels.h"

namespace ringside {
namespace {

/// Returns the whole pages around the bytes, which cudaHostRegister() requires.
std::span<std::byte> whole_pages(std::span<std::byte> bytes) {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::size_t before = begin % kPage;
  return {bytes.data() - before, (before + bytes.size() + kPage - 1) / kPage * kPage};
}

/// Rounds up to blocks of 2 MiB, at least one: such blocks are not cut from larger ones, and start at a page boundary.
std::uint64_t whole_blocks(Bytes size) {
  constexpr std::uint64_t kBlock = 2 << 20;
  return std::max<std::uint64_t>(1, (size.value + kBlock - 1) / kBlock) * kBlock;
}

}  // namespace

GpuMemory::~GpuMemory() {
  // Otherwise a thread that has used no GPU would create a context on GPU 0 to free memory of another GPU.
  const auto here = OnGpu::device(device_);
  for (void* const one : taken_) static_cast<void>(cudaFree(one));
  for (void* const one : shared_) static_cast<void>(cudaFreeHost(one));
}

Result<std::byte*> GpuMemory::take(Bytes size) {
  void* memory = nullptr;
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
  // One byte is added because cudaMalloc() returns null for 0 bytes.
  RINGSIDE_TRY(check_cuda(cudaMalloc(&memory, size.value + 1), "cudaMalloc"));
  taken_.push_back(memory);
  RINGSIDE_TRY(clear(memory, size.value + 1));
  return static_cast<std::byte*>(memory);
}

Result<std::byte*> GpuMemory::take_shared(Bytes size) {
  void* memory = nullptr;
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
  // With unified addressing, host and device use the same address.
  RINGSIDE_TRY(
      check_cuda(cudaHostAlloc(&memory, size.value, cudaHostAllocMapped), "cudaHostAlloc"));
  shared_.push_back(memory);
  std::memset(memory, 0, size.value);
  return static_cast<std::byte*>(memory);
}

Result<std::int64_t> GpuMemory::count_wrong(const std::byte* buffer, const PlaceTable& expected) {
  constexpr unsigned kBlocks = 256, kThreads = 256;
  if (counter_ == nullptr) {
    RINGSIDE_TRY(counter_, take(Bytes{sizeof(unsigned long long)}));
  }
  unsigned long long wrong = 0;
  RINGSIDE_TRY(write(counter_, std::as_bytes(std::span(&wrong, 1))));
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
  PlaceTable own = expected;
  void* arguments[] = {&buffer, &own, &counter_};
  RINGSIDE_TRY(check_cuda(
      cudaLaunchKernel(kernel_that_checks(), dim3(kBlocks), dim3(kThreads), arguments, 0, stream_),
      "launching a kernel"));
  RINGSIDE_TRY(read(std::as_writable_bytes(std::span(&wrong, 1)), counter_));
  return static_cast<std::int64_t>(wrong);
}

Result<std::byte*> GpuMemory::map(std::span<std::byte> pages) {
  const std::span<std::byte> whole = whole_pages(pages);
  void* first = nullptr;
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
  RINGSIDE_TRY(check_cuda(cudaHostRegister(whole.data(), whole.size(),
                                           cudaHostRegisterMapped | cudaHostRegisterPortable),
                          "cudaHostRegister"));
  const Status found =
      check_cuda(cudaHostGetDevicePointer(&first, whole.data(), 0), "cudaHostGetDevicePointer");
  if (!found) {
    unmap(pages);
    return found.error();
  }
  return static_cast<std::byte*>(first) + (pages.data() - whole.data());
}

void GpuMemory::unmap(std::span<std::byte> pages) noexcept {
  const auto here = OnGpu::device(device_);
  static_cast<void>(cudaHostUnregister(whole_pages(pages).data()));
}

Result<std::byte*> GpuMemory::take_to_share(Bytes size, MemoryAccess by) {
  RINGSIDE_TRY(std::byte* const memory, sharing_.take(size, by));
  RINGSIDE_TRY(clear(memory, size.value));
  return memory;
}

Result<AdapterMemory> GpuMemory::take_for_adapters(Bytes size) {
  const std::uint64_t whole = whole_blocks(size);
  RINGSIDE_TRY(std::byte* const memory, take(Bytes{whole - 1}));  // one byte is added
  return AdapterMemory{.data = memory, .size = whole, .dmabuf = dmabuf_of(memory, whole)};
}

Status GpuMemory::move(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
  RINGSIDE_TRY(check_cuda(cudaMemcpyAsync(to, from, size, kind, stream_), "cudaMemcpy"));
  return check_cuda(cudaStreamSynchronize(stream_), "cudaMemcpy");
}

Status GpuMemory::clear(void* memory, std::size_t size) {
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
  RINGSIDE_TRY(check_cuda(cudaMemsetAsync(memory, 0, size, stream_), "cudaMemset"));
  return check_cuda(cudaStreamSynchronize(stream_), "cudaMemset");
}

}  // namespace ringside
