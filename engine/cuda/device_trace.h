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

/// Collects events that kernels record, for traces, and converts their times to the host's clock.
///
/// Threads  one at a time
class DeviceTrace {
 public:
  /// Number of a strand's primitives in one call that fit into a trace.
  static constexpr std::uint32_t kEventsOfStrand = 4096;

  /// A primitive of a kernel.
  struct Event {
    int channel = 0;
    DeviceEvent event;  ///< with times of trace_now()
  };

  /// Returns the events that each rank's kernel recorded in a launch: channel by channel, in the order of their begin.
  /// ended_ns  trace_now() when the host learned that the launch had ended
  /// returns   [place of the rank in the launch]
  /// errors    System
  Result<std::vector<std::vector<Event>>> take(const DeviceGrid& grid, int nranks,
                                               DeviceMemory& memory, std::int64_t ended_ns);

 private:
  /// trace_now() - the GPU's clock: the smallest difference seen between a launch's end and the host's notice of it.
  /// It is too large by the shortest time that such a notice takes.
  std::int64_t clock_offset_ns_ = std::numeric_limits<std::int64_t>::max();
};

/// Writes the events into a trace. If there are several ranks on one side, writes the first.
/// event  the fields that all events of the call have in common
void record_device_events(TraceLane& lane, const TraceEvent& event, DataType type,
                          std::span<const DeviceTrace::Event> events);

}  // namespace ringside
