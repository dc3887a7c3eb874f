#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "engine/cuda/device/device_call.h"
#include "engine/runtime/calls/call.h"

namespace ringside {

/// Runs launches on a GPU. begin() returns while the launch runs; only wait() waits for its end.
///
/// Ordering   a launch starts after the preceding one has ended, on whichever streams both are. Between a launch that
///            is captured into a graph and one that is not, the user defines the order
/// Threads    begin(): one thread at a time. wait() and is_capturing(): any thread, at any time
class DeviceQueue {
 public:
  /// The number of a launch in the order of begin(), from 1. Captured launches are not counted.
  using Ticket = std::uint64_t;
  static constexpr Ticket kCaptured = 0;

  virtual ~DeviceQueue() = default;

  /// Begins a launch.
  /// stream   the launch runs after the work that this stream already holds, and before work that is enqueued later;
  ///          nullopt: the launch runs on the queue's own stream
  /// returns  the ticket for wait(). kCaptured: the stream is being captured, so the launch became a node of its graph.
  ///          It runs whenever the graph runs, and wait() does not cover it
  /// errors   InvalidArgument: more threads than a block can have.  System: not all blocks fit on the GPU at a time, or
  ///          CUDA refuses the launch
  virtual Result<Ticket> begin(const DeviceLaunch& launch, Collective collective,
                               std::optional<DeviceStream> stream) = 0;

  /// Waits until a launch and all launches before it have ended.
  /// errors  System: a kernel failed. CUDA reports a failure at the next call, so it may come from other work on the
  ///         GPU
  virtual Status wait(Ticket ticket) = 0;

  /// Returns whether work on the stream is captured into a graph. errors  System
  virtual Result<bool> is_capturing(DeviceStream stream) = 0;
};

}  // namespace ringside
