#include "engine/cuda/device_trace.h"

#include <algorithm>

#include "trace/recorder.h"

namespace ringside {

Result<std::vector<std::vector<DeviceTrace::Event>>> DeviceTrace::take(const DeviceGrid& grid,
                                                                       int nranks,
                                                                       DeviceMemory& memory,
                                                                       std::int64_t ended_ns) {
  std::vector<std::vector<Event>> events(static_cast<std::size_t>(nranks));
  const int channels = grid.count / nranks;
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  for (int block = 0; block < grid.count; ++block) {
    std::vector<Event>& own = events[static_cast<std::size_t>(block / channels)];
    const auto first = static_cast<std::ptrdiff_t>(own.size());
    for (int strand = 0; strand < grid.strands; ++strand) {
      RINGSIDE_TRY(const std::vector<DeviceEvent> some, take_events(grid, block, strand, memory));
      for (const DeviceEvent& one : some) {
        own.push_back({block % channels, one});
        last_ns = std::max(last_ns, one.end_ns);
      }
    }
    std::stable_sort(own.begin() + first, own.end(), [](const Event& a, const Event& b) {
      return a.event.begin_ns < b.event.begin_ns;
    });
    std::uint32_t step = 0;
    for (auto one = own.begin() + first; one != own.end(); ++one) one->event.step = step++;
  }
  if (last_ns == std::numeric_limits<std::int64_t>::min()) return events;
  clock_offset_ns_ = std::min(clock_offset_ns_, ended_ns - last_ns);
  for (std::vector<Event>& own : events) {
    for (Event& one : own) {
      one.event.begin_ns += clock_offset_ns_;
      one.event.end_ns += clock_offset_ns_;
    }
  }
  return events;
}

void record_device_events(TraceLane& lane, const TraceEvent& event, DataType type,
                          std::span<const DeviceTrace::Event> events) {
  const auto element = static_cast<std::int64_t>(size_of(type).value);
  for (const DeviceTrace::Event& one : events) {
    TraceEvent own = event;
    own.begin_ns = one.event.begin_ns;
    own.end_ns = one.event.end_ns;
    own.offset = static_cast<std::uint64_t>(one.event.offset * element);
    own.bytes = static_cast<std::uint64_t>(one.event.count * element);
    own.recv_peer = one.event.recv_peer;
    own.send_peer = one.event.send_peer;
    own.step = one.event.step;
    own.channel = static_cast<std::uint16_t>(one.channel);
    own.primitive = one.event.primitive;
    lane.record(own);
  }
}

}  // namespace ringside
