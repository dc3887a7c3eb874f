#include "engine/cuda/gpu/gpu_glance.h"

#include <chrono>
#include <cstring>
#include <thread>

#include "base/assert.h"
#include "base/deadline.h"
#include "engine/cuda/gpu/gpu_error.h"
#include "engine/cuda/gpu/gpu_thread.h"

namespace ringside {

GpuGlance::GpuGlance(int device) : device_(device) {
  const auto here = OnGpu::device(device);
  if (!here || cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) != cudaSuccess) {
    stream_ = nullptr;
    return;
  }
  if (cudaHostAlloc(&pinned_, kMostBytes, cudaHostAllocDefault) != cudaSuccess) pinned_ = nullptr;
}

GpuGlance::~GpuGlance() {
  const auto here = OnGpu::device(device_);
  if (pinned_ != nullptr) static_cast<void>(cudaFreeHost(pinned_));
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

Status GpuGlance::look(std::span<std::uint64_t> to, const std::byte* from) {
  constexpr auto kLongest = std::chrono::seconds(1);
  constexpr auto kBetweenLooks = std::chrono::microseconds(50);
  RINGSIDE_ASSERT(to.size_bytes() <= kMostBytes, "{} bytes at a glance", to.size_bytes());
  const std::lock_guard lock(mutex_);
  if (pinned_ == nullptr || is_mute_)
    return Error{ErrorCode::System, "the GPU's memory cannot be read while kernels run"};
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
  RINGSIDE_TRY(
      check_cuda(cudaMemcpyAsync(pinned_, from, to.size_bytes(), cudaMemcpyDeviceToHost, stream_),
                 "cudaMemcpyAsync"));
  const Deadline deadline = deadline_in(kLongest);
  cudaError_t code = cudaStreamQuery(stream_);
  while (code == cudaErrorNotReady && !has_passed(deadline)) {
    std::this_thread::sleep_for(kBetweenLooks);
    code = cudaStreamQuery(stream_);
  }
  is_mute_ = code == cudaErrorNotReady;
  if (is_mute_) return Error{ErrorCode::Timeout, "the GPU did not answer within 1 s"};
  RINGSIDE_TRY(check_cuda(code, "cudaMemcpyAsync"));
  std::memcpy(to.data(), pinned_, to.size_bytes());
  return {};
}

}  // namespace ringside
