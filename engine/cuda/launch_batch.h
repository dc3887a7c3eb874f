#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cuda/device/call_ranges.h"
#include "engine/cuda/device/device_queue.h"
#include "engine/cuda/launch_works.h"

namespace ringside {

/// Consecutive calls of one rank that become one launch. They use the same kernel and stream, and none reads or writes
/// memory that another one writes, because their blocks do not wait for each other.
///
/// Threads  one at a time
class LaunchBatch {
 public:
  /// returns  false: the call does not fit into the batch, which is unchanged
  bool add(const DeviceGrid& grid, const DeviceBuffers& buffers, Collective kernel,
           std::optional<DeviceStream> stream, CallRanges ranges);

  [[nodiscard]] bool is_empty() const { return launch_.works == 0; }
  [[nodiscard]] const DeviceLaunch& launch() const { return launch_; }
  [[nodiscard]] Collective kernel() const { return kernel_; }
  [[nodiscard]] std::optional<DeviceStream> stream() const { return stream_; }

  void clear();

 private:
  DeviceLaunch launch_;
  Collective kernel_ = Collective::AllReduce;
  std::optional<DeviceStream> stream_;
  std::vector<CallRanges> ranges_;
};

}  // namespace ringside
