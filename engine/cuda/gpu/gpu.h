#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/cuda/device/device_memory.h"
#include "engine/cuda/device/device_queue.h"
#include "engine/cuda/device/lay_out.h"
#include "ringside/units.h"

namespace ringside {

/// A GPU as its driver describes it.
struct GpuFacts {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  Bytes memory;
  int driver = 0, runtime = 0;  ///< versions of CUDA, 1000 x major + 10 x minor
};

/// A recorded sequence of work that can be run again for the cost of one launch.
class GpuGraph {
 public:
  virtual ~GpuGraph() = default;
  /// Begins the work on the GPU's stream, without waiting for it.
  /// errors  System
  virtual Status begin() = 0;
};

/// One GPU, with a stream of its own, that runs the kernels of kernels.cu.
///
/// Ordering   launches and copies run in the order in which they were begun
/// Threads    one at a time
class Gpu {
 public:
  /// Opens a GPU, by its index among those visible to this process.
  /// errors  System: this build has no kernels, or there is no driver or no GPU; the error names which
  static Result<std::unique_ptr<Gpu>> open(int device = 0);
  /// Returns the number of GPUs visible to this process.
  static int count();
  /// Returns this thread's current device, as set by cudaSetDevice().
  /// errors  as open()
  static Result<int> current();
  /// Makes the device current on this thread, also for other libraries. errors  System
  static Status set_current(int device);
  /// Wait for all work of a stream, or return whether all of it has ended.
  /// errors  System: work on the GPU failed, on this stream or another; CUDA reports a failure at the next call
  static Status synchronize(DeviceStream stream);
  static Result<bool> is_done(DeviceStream stream);
  virtual ~Gpu() = default;

  [[nodiscard]] virtual const GpuFacts& facts() const = 0;
  virtual DeviceMemory& memory() = 0;

  /// Begins a cooperative launch. Its blocks wait for each other, so all must be resident at a time; CUDA refuses a
  /// cooperative launch whose blocks are not.
  /// errors  InvalidArgument: more threads than a block can have.  System: not all blocks fit on the GPU at a time
  virtual Status launch(const DeviceLaunch& launch, Collective collective) = 0;
  /// Returns the queue for launches that no call waits for, or that are ordered with a stream of the user. Launches
  /// without a stream also follow those of launch().
  virtual DeviceQueue& queue() = 0;
  /// Begins a copy within the GPU's memory.
  /// errors  System
  virtual Status copy(std::byte* to, const std::byte* from, Bytes bytes) = 0;
  /// Waits for all work that has begun.
  /// errors  System: as synchronize()
  virtual Status finish() = 0;

  /// Returns whether all work that has begun has ended. Never waits.
  /// errors  as finish()
  virtual Result<bool> is_idle() = 0;
  /// Returns the cudaStream_t, for libraries that enqueue their own work.
  [[nodiscard]] virtual void* stream() const = 0;

  /// Captures the work that `work` enqueues into a graph, without running it.
  /// errors  System; those of `work`
  virtual Result<std::unique_ptr<GpuGraph>> capture(const std::function<Status()>& work) = 0;
  /// Returns how long the work that `work` begins takes by the GPU's clock; waits for it.
  /// errors  System; those of `work`
  virtual Result<Seconds> time(const std::function<Status()>& work) = 0;
};

}  // namespace ringside
