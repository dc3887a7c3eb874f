#pragma once

#include <memory>
#include <vector>

#include "engine/cuda/device/device_queue.h"
#include "engine/cuda/device_trace.h"
#include "engine/cuda/virtual_ranks.h"
#include "engine/runtime/calls/executor.h"

namespace ringside {

class Gpu;

/// What runs the launches of a group: a GPU, or its replacement in tests.
struct CudaDevice {
  DeviceMemory* memory = nullptr;
  DeviceControl* control = nullptr;  ///< in shared memory
  int multiprocessors = 1;
  DeviceQueue* queue = nullptr;
  bool stores_directly = true;       ///< VirtualRanks::Options
  std::shared_ptr<void> owner = {};  ///< of all that, where no other owner keeps it
};

/// errors  System; as wants_direct_stores()
Result<CudaDevice> device_of(Gpu& gpu);

/// The ranks of one communicator that share a GPU as threads of one process. Each hands in its call; the last one
/// begins the launch of all, and none goes on before it has ended.
///
/// Threads    each rank's, one at a time; any may call abort()
/// Ownership  what the device refers to outlives the group
class CudaGroup {
 public:
  CudaGroup(CudaDevice device, int nranks);
  ~CudaGroup();
  CudaGroup(const CudaGroup&) = delete;
  CudaGroup& operator=(const CudaGroup&) = delete;

  /// One rank's part of a call: buffers in the device's memory.
  /// timeout  until the other ranks have handed in theirs, and of each wait in the kernel
  /// errors   Timeout: names the rank that did not come, or what was waited for.  Aborted.  As VirtualRanks::plan()
  Status run(Rank me, const CollectiveCall& call, const Choice& choice, Nanoseconds timeout);

  /// From the next call on, kernels record so many primitives of each strand.
  void keep_events(std::uint32_t of_strand);

  /// What one rank's kernel has recorded of its last call, as DeviceTrace has it.
  [[nodiscard]] std::vector<DeviceTrace::Event> last_events(Rank rank) const;

  /// How far one rank's connections have come.
  /// Threads  any, while a call is under way, too
  [[nodiscard]] std::vector<Connections::Progress> progress(Rank rank) const;

  /// Ends every wait, of hosts and of kernels, now and later.
  void abort() noexcept;

  [[nodiscard]] const CudaDevice& device() const;
  [[nodiscard]] int nranks() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// An executor for each of the group's ranks; Communicator::make() takes it.
ExecutorMaker cuda_executor(std::shared_ptr<CudaGroup> group);

}  // namespace ringside
