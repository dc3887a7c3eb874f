#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/cuda/device/lay_out.h"
#include "ringside/trace_event.h"

namespace ringside {

class TraceLane;

/// What kernels record, for traces: by the host's clock.
///
/// Threads  one at a time
class DeviceTrace {
 public:
  /// Room for a strand's primitives in one call, of traces.
  static constexpr std::uint32_t kEventsOfStrand = 4096;

  struct Event {
    int channel = 0;
    DeviceEvent event;  ///< its times on trace_now()
  };

  /// What the kernel of each rank of a launch has recorded in it: channel by channel, in the order of their begin.
  /// ended_ns  by trace_now(), when the host knew that the launch had ended
  /// returns   [place of the rank in the launch]
  /// errors    System
  Result<std::vector<std::vector<Event>>> take(const DeviceGrid& grid, int nranks,
                                               DeviceMemory& memory, std::int64_t ended_ns);

 private:
  /// From the GPU's clock to trace_now(): the least that a launch's end lay before the host knew of it. That is too
  /// much by the time that such news takes at best.
  std::int64_t clock_offset_ns_ = std::numeric_limits<std::int64_t>::max();
};

/// Puts them into a trace. Of several ranks on one side, the first.
/// event  what all of the call share
void record_device_events(TraceLane& lane, const TraceEvent& event, DataType type,
                          std::span<const DeviceTrace::Event> events);

}  // namespace ringside
