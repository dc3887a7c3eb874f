#include "engine/cuda/gpu/gpu_queue.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/cuda/gpu/gpu_error.h"
#include "engine/cuda/gpu/gpu_thread.h"
#include "engine/cuda/gpu/kernels.h"

namespace ringside {
namespace {

/// A stream, and one capture of it. Handles of streams are reused; these ids are not.
struct Lane {
  unsigned long long stream = 0;
  unsigned long long capture = 0;  ///< 0: none
};

/// Destroyed with its last owner.
using SharedEvent = std::shared_ptr<std::remove_pointer_t<cudaEvent_t>>;

class GpuQueue final : public DeviceQueue {
 public:
  GpuQueue(int device, int multiprocessors, cudaStream_t stream)
      : device_(device), multiprocessors_(multiprocessors), stream_(stream) {}
  GpuQueue(const GpuQueue&) = delete;
  GpuQueue& operator=(const GpuQueue&) = delete;
  ~GpuQueue() override {
    const auto here = OnGpu::device(device_);
    // Waits for the kernels first: unmapping memory does not wait for kernels that still use it.
    for (const auto& [ticket, event] : under_way_) {
      static_cast<void>(cudaEventSynchronize(event.get()));
    }
    under_way_.clear();
    free_.clear();
    last_event_.reset();
    in_capture_.reset();
  }

  Result<Ticket> begin(const DeviceLaunch& launch, Collective collective,
                       std::optional<DeviceStream> stream) override {
    RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
    const auto on = stream ? static_cast<cudaStream_t>(stream->stream) : stream_;
    RINGSIDE_TRY(const Lane lane, lane_of(on));
    RINGSIDE_TRY(wait_on_stream(on, lane));
    RINGSIDE_TRY(launch_on_gpu(launch, collective, multiprocessors_, on));
    last_ = lane;
    if (lane.capture != 0) {
      if (in_capture_ == nullptr) {
        RINGSIDE_TRY(in_capture_, make_event());
      }
      last_event_ = in_capture_;
      RINGSIDE_TRY(check_cuda(cudaEventRecord(in_capture_.get(), on), "cudaEventRecord"));
      return kCaptured;
    }
    last_event_.reset();  // free_event() may return it
    RINGSIDE_TRY(last_event_, free_event());
    RINGSIDE_TRY(check_cuda(cudaEventRecord(last_event_.get(), on), "cudaEventRecord"));
    const std::lock_guard lock(mutex_);
    under_way_.emplace_back(++begun_, last_event_);
    return begun_;
  }

  Status wait(Ticket ticket) override {
    RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
    for (;;) {
      Ticket first = 0;
      SharedEvent event;
      {
        const std::lock_guard lock(mutex_);
        if (under_way_.empty() || under_way_.front().first > ticket) return {};
        std::tie(first, event) = under_way_.front();
      }
      RINGSIDE_TRY(check_cuda(cudaEventSynchronize(event.get()), "a kernel"));
      const std::lock_guard lock(mutex_);
      // Otherwise another thread has waited for it too, and erased it.
      if (!under_way_.empty() && under_way_.front().first == first) {
        under_way_.pop_front();
        free_.push_back(std::move(event));
      }
    }
  }

  Result<bool> is_capturing(DeviceStream stream) override {
    RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
    RINGSIDE_TRY(const Lane lane, lane_of(static_cast<cudaStream_t>(stream.stream)));
    return lane.capture != 0;
  }

 private:
  /// shape  the thread is in an OnGpu scope
  static Result<Lane> lane_of(cudaStream_t stream) {
    Lane lane;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    // The default stream cannot be captured, and must not be queried while another stream is being captured.
    RINGSIDE_TRY(check_cuda(cudaStreamGetId(stream, &lane.stream), "cudaStreamGetId"));
    if (stream == nullptr || stream == cudaStreamLegacy) return lane;
    RINGSIDE_TRY(check_cuda(cudaStreamGetCaptureInfo(stream, &status, &lane.capture),
                            "cudaStreamGetCaptureInfo"));
    if (status == cudaStreamCaptureStatusNone) lane.capture = 0;
    return lane;
  }

  static Result<SharedEvent> make_event() {
    cudaEvent_t event = nullptr;
    RINGSIDE_TRY(
        check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate"));
    return SharedEvent(event, [](cudaEvent_t one) { static_cast<void>(cudaEventDestroy(one)); });
  }

  /// Returns an event whose launch has ended, and for which no thread waits any more. A stream that waits on it keeps
  /// its wait.
  Result<SharedEvent> free_event() {
    const std::lock_guard lock(mutex_);
    const auto unused = std::ranges::find_if(
        free_, [](const SharedEvent& event) { return event.use_count() == 1; });
    if (unused == free_.end()) return make_event();
    SharedEvent event = std::move(*unused);
    free_.erase(unused);
    return event;
  }

  /// Makes the stream wait if the preceding launch was on another stream. Between a graph and launches outside it, the
  /// user orders: an event of one has no meaning in the other.
  Status wait_on_stream(cudaStream_t on, const Lane& lane) {
    if (last_event_ == nullptr || last_.stream == lane.stream || last_.capture != lane.capture) {
      return {};
    }
    return check_cuda(cudaStreamWaitEvent(on, last_event_.get(), 0), "cudaStreamWaitEvent");
  }

  const int device_;
  const int multiprocessors_;
  const cudaStream_t stream_;
  // Used by the thread that begins calls.
  Lane last_;
  SharedEvent last_event_;  ///< recorded after the last launch; null: none
  SharedEvent in_capture_;  ///< for launches that are captured; null before the first
  std::mutex mutex_;        ///< guards the members below
  Ticket begun_ = 0;
  std::deque<std::pair<Ticket, SharedEvent>> under_way_;  ///< ascending
  std::vector<SharedEvent> free_;  ///< of launches that have ended; a thread may still wait for one
};

}  // namespace

Result<std::unique_ptr<DeviceQueue>> make_gpu_queue(int device, int multiprocessors, void* stream) {
  return std::unique_ptr<DeviceQueue>(
      std::make_unique<GpuQueue>(device, multiprocessors, static_cast<cudaStream_t>(stream)));
}

Status launch_on_gpu(const DeviceLaunch& launch, Collective collective, int multiprocessors,
                     void* stream) {
  const int threads = launch.warps * kLanesOfWarp;
  if (threads > kMostThreadsOfBlock) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} threads a block", threads),
                 fmt::format("{} at most", kMostThreadsOfBlock)};
  }
  DeviceLaunch own = launch;
  void* arguments[] = {&own};
  const cudaError_t code = cudaLaunchCooperativeKernel(
      kernel_of(collective), dim3(static_cast<unsigned>(launch.blocks())),
      dim3(static_cast<unsigned>(threads)), arguments, 0, static_cast<cudaStream_t>(stream));
  if (code == cudaErrorCooperativeLaunchTooLarge) {
    static_cast<void>(cudaGetLastError());  // otherwise the next launch would be refused
    return Error{ErrorCode::System,
                 fmt::format("{} blocks do not fit on {} multiprocessors at a time",
                             launch.blocks(), multiprocessors),
                 "use fewer channels or ranks"};
  }
  return check_cuda(code, "launching a kernel");
}

}  // namespace ringside
