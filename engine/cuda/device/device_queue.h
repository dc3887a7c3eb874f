#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "engine/cuda/device/device_call.h"
#include "engine/runtime/calls/call.h"

namespace ringside {

/// Launches on their way to a GPU, and through it. A caller that does not ask never waits.
///
/// Ordering   one after the other, as begun
/// Threads    one at a time begins; any may wait
class DeviceQueue {
 public:
  /// Launches that were begun, counted from 1.
  using Ticket = std::uint64_t;
  static constexpr Ticket kCaptured = 0;

  virtual ~DeviceQueue() = default;

  /// Begins a launch. Where a stream is given, behind all that this holds now, and before all that is put there later.
  /// returns  kCaptured: the stream is being captured, and the launch is part of its graph: it begins whenever that does,
  ///          and there is nothing to wait for
  /// errors   InvalidArgument: more threads than a block has.  System: not all blocks are resident
  virtual Result<Ticket> begin(const DeviceLaunch& launch, Collective collective,
                               std::optional<DeviceStream> stream) = 0;

  /// Returns when a launch has ended, and all before it.
  /// errors  System: of whatever has failed since
  virtual Status wait(Ticket ticket) = 0;

  /// Returns whether work on the stream is captured into a graph. errors  System
  virtual Result<bool> is_capturing(DeviceStream stream) = 0;
};

}  // namespace ringside
