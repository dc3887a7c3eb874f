#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringside {

/// Simultaneous readings of both clocks.
struct ClockReading {
  std::int64_t trace_ns = 0;      ///< trace_now()
  std::int64_t monotonic_ns = 0;  ///< CLOCK_MONOTONIC
};

/// Reads both clocks several times and returns the closest pair: accurate to half of a reading's
/// duration, about 20 ns.
ClockReading read_clocks();

/// One straight line of the map, valid for times in [from_ns, until_ns).
struct ClockSegment {
  std::int64_t from_ns = INT64_MIN;
  std::int64_t until_ns = INT64_MAX;
  ClockReading origin;
  double stretch = 0;  ///< slope - 1; stored without the 1 to keep precision

  [[nodiscard]] bool holds(std::int64_t trace_ns) const {
    return from_ns <= trace_ns && trace_ns < until_ns;
  }
  [[nodiscard]] std::int64_t to_monotonic(std::int64_t trace_ns) const {
    const std::int64_t since = trace_ns - origin.trace_ns;
    return origin.monotonic_ns + since +
           static_cast<std::int64_t>(static_cast<double>(since) * stretch);
  }
};

/// Maps times of trace_now() to CLOCK_MONOTONIC: by a straight line between adjacent readings, with
/// slope 1 before the first and after the last one. Without readings it returns times unchanged.
///
/// A time maps to the same value again while there are readings on both sides of it. After the last
/// reading the next one changes the slope: add a reading before mapping times up to now, as
/// TraceRecorder does at each flush. At kMostReadings, every second reading of the older half is
/// dropped, which changes old times by the curvature of the clock that the dropped ones showed.
///
/// Threads   one at a time
class ClockMap {
 public:
  /// A map is copied at each flush: 4 KiB. Chosen: a minute of flushes at full density.
  static constexpr std::size_t kMostReadings = 256;

  /// Adds a reading. Ignores one less than 1 us after the last one, as its error would dominate the
  /// slope, and one whose CLOCK_MONOTONIC is not later than that of the last one.
  void add(ClockReading reading);

  /// Returns the line for `trace_ns`. It is valid for other times as well while
  /// ClockSegment::holds() is true.
  [[nodiscard]] ClockSegment segment_at(std::int64_t trace_ns) const;

  [[nodiscard]] std::size_t size() const { return readings_.size(); }

 private:
  std::vector<ClockReading> readings_;
};

}  // namespace ringside
