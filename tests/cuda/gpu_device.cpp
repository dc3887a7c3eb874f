#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "engine/cuda/gpu/gpu.h"
#include "tests/cuda/device_under_test.h"

namespace ringside {
namespace {

/// A GPU. The blocks of a dead rank end at once: DeviceLaunch::absent_rank.
class GpuDevice final : public DeviceUnderTest {
 public:
  explicit GpuDevice(std::unique_ptr<Gpu> gpu, DeviceControl* control)
      : gpu_(std::move(gpu)), control_(control) {}

  [[nodiscard]] DeviceLauncher launcher() override {
    return {gpu_->memory(), control_, [this](const DeviceLaunch& launch, Collective collective) {
              return run(launch, collective);
            }};
  }
  [[nodiscard]] DeviceQueue& queue() override { return queue_; }
  Result<std::byte*> take_piece(Bytes size) override { return gpu_->memory().take(size); }

 private:
  /// The GPU's queue, with launches that lack the dead rank's blocks.
  class Queue final : public DeviceQueue {
   public:
    Queue(DeviceQueue& of_gpu, const int& dead_rank) : of_gpu_(of_gpu), dead_rank_(dead_rank) {}
    Result<Ticket> begin(const DeviceLaunch& launch, Collective collective,
                         std::optional<DeviceStream> stream) override {
      DeviceLaunch own = launch;
      own.absent_rank = dead_rank_;
      return of_gpu_.begin(own, collective, stream);
    }
    Status wait(Ticket ticket) override { return of_gpu_.wait(ticket); }
    Result<bool> is_capturing(DeviceStream stream) override { return of_gpu_.is_capturing(stream); }

   private:
    DeviceQueue& of_gpu_;
    const int& dead_rank_;
  };

  bool run(const DeviceLaunch& launch, Collective collective) {
    DeviceLaunch own = launch;
    own.absent_rank = dead_rank;
    if (!gpu_->launch(own, collective)) return false;
    if (aborts) {
      // Lets the kernel run; the wait that the abort ends is longer than any test.
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::atomic_ref(control_->abort).store(1);
    }
    return bool{gpu_->finish()};
  }

  std::unique_ptr<Gpu> gpu_;
  DeviceControl* control_;
  Queue queue_{gpu_->queue(), dead_rank};
};

}  // namespace

int device_count() { return Gpu::count(); }
int files_kept_per_share() { return 0; }

Result<std::unique_ptr<DeviceUnderTest>> make_device(DeviceCompany company) {
  RINGSIDE_TRY(std::unique_ptr<Gpu> gpu, Gpu::open(company.number % std::max(1, Gpu::count())));
  RINGSIDE_TRY(std::byte* const control, gpu->memory().take_shared(Bytes{sizeof(DeviceControl)}));
  return std::unique_ptr<DeviceUnderTest>(
      std::make_unique<GpuDevice>(std::move(gpu), reinterpret_cast<DeviceControl*>(control)));
}

}  // namespace ringside
