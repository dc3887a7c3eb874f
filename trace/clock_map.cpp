#include "trace/clock_map.h"

#include <algorithm>
#include <utility>

namespace ringside {
namespace {

constexpr std::int64_t kLeastDistanceNs = 1000;  ///< 50 times the error of a reading

}  // namespace

void ClockMap::add(ClockReading reading) {
  if (!readings_.empty() && (reading.trace_ns - readings_.back().trace_ns < kLeastDistanceNs ||
                             reading.monotonic_ns <= readings_.back().monotonic_ns)) {
    return;
  }
  if (readings_.size() == kMostReadings) {
    std::vector<ClockReading> kept;
    kept.reserve(kMostReadings);
    for (std::size_t i = 0; i < readings_.size(); ++i) {
      if (i % 2 == 0 || i >= kMostReadings / 2) kept.push_back(readings_[i]);
    }
    readings_ = std::move(kept);
  }
  readings_.push_back(reading);
}

ClockSegment ClockMap::segment_at(std::int64_t trace_ns) const {
  if (readings_.empty()) return {};
  const auto is_before = [](std::int64_t time, const ClockReading& reading) {
    return time < reading.trace_ns;
  };
  const auto after = std::upper_bound(readings_.begin(), readings_.end(), trace_ns, is_before);
  if (after == readings_.begin()) return {INT64_MIN, after->trace_ns, *after, 0};
  const ClockReading& a = *(after - 1);
  if (after == readings_.end()) return {a.trace_ns, INT64_MAX, a, 0};
  const ClockReading& b = *after;
  const std::int64_t length = b.trace_ns - a.trace_ns;
  const double stretch =
      static_cast<double>(b.monotonic_ns - a.monotonic_ns - length) / static_cast<double>(length);
  return {a.trace_ns, b.trace_ns, a, stretch};
}

}  // namespace ringside
