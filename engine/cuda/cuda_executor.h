#pragma once

#include <memory>
#include <vector>

#include "engine/cuda/device/device_queue.h"
#include "engine/cuda/device_trace.h"
#include "engine/cuda/virtual_ranks.h"
#include "engine/runtime/calls/executor.h"

namespace ringside {

class Gpu;

/// The device that runs the launches of a group: a GPU, or its replacement in tests.
struct CudaDevice {
  DeviceMemory* memory = nullptr;
  DeviceControl* control = nullptr;  ///< in shared memory
  int multiprocessors = 1;
  DeviceQueue* queue = nullptr;
  bool stores_directly = true;       ///< VirtualRanks::Options
  std::shared_ptr<void> owner = {};  ///< keeps the objects above alive if no other owner does
};

/// Returns the device that runs launches on a GPU.
/// errors  System; as wants_direct_stores()
Result<CudaDevice> device_of(Gpu& gpu);

/// The ranks of one communicator that share a GPU as threads of one process. Each rank submits its call; the last one
/// launches all of them, and every rank waits until the launch has ended.
///
/// Threads    one thread per rank at a time; any thread may call abort()
/// Ownership  the objects that the device refers to outlive the group
class CudaGroup {
 public:
  CudaGroup(CudaDevice device, int nranks);
  ~CudaGroup();
  CudaGroup(const CudaGroup&) = delete;
  CudaGroup& operator=(const CudaGroup&) = delete;

  /// Runs one rank's part of a call, with buffers in the device's memory.
  /// timeout  limit of the wait for the other ranks' calls, and of each wait in the kernel
  /// errors   Timeout: names the rank that made no call, or the peer that a warp waited for.  Aborted.  As
  ///          VirtualRanks::plan()
  Status run(Rank me, const CollectiveCall& call, const Choice& choice, Nanoseconds timeout);

  /// Makes kernels record up to this many primitives of each strand, from the next call on.
  void keep_events(std::uint32_t of_strand);

  /// Returns the events that one rank's kernel recorded during its last call, as in DeviceTrace.
  [[nodiscard]] std::vector<DeviceTrace::Event> last_events(Rank rank) const;

  /// Returns the progress of one rank's connections.
  /// Threads  any, also during a call
  [[nodiscard]] std::vector<Connections::Progress> progress(Rank rank) const;

  /// Makes every current and later wait of hosts and kernels return.
  void abort() noexcept;

  [[nodiscard]] const CudaDevice& device() const;
  [[nodiscard]] int nranks() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns a maker of executors for the group's ranks, for Communicator::make().
ExecutorMaker cuda_executor(std::shared_ptr<CudaGroup> group);

}  // namespace ringside
