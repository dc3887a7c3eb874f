#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringside {

/// Both clocks at one moment.
struct ClockReading {
  std::int64_t trace_ns = 0;      ///< trace_now()
  std::int64_t monotonic_ns = 0;  ///< CLOCK_MONOTONIC
};

/// The narrowest of several readings: off by half of what one takes, about 20 ns.
ClockReading read_clocks();

/// One straight line of the map, for times from `from_ns` up to, not including, `until_ns`.
struct ClockSegment {
  std::int64_t from_ns = INT64_MIN;
  std::int64_t until_ns = INT64_MAX;
  ClockReading origin;
  double stretch = 0;  ///< slope - 1: small, so that its product keeps every bit that matters

  [[nodiscard]] bool holds(std::int64_t trace_ns) const {
    return from_ns <= trace_ns && trace_ns < until_ns;
  }
  [[nodiscard]] std::int64_t to_monotonic(std::int64_t trace_ns) const {
    const std::int64_t since = trace_ns - origin.trace_ns;
    return origin.monotonic_ns + since +
           static_cast<std::int64_t>(static_cast<double>(since) * stretch);
  }
};

/// Maps times of trace_now() onto CLOCK_MONOTONIC: a straight line between each two readings, of slope 1
/// before the first and after the last one; with no reading at all a time stays as it is.
///
/// Readings never change once added, so a time maps to the same place at every flush. When there
/// are too many of them, every second one of the older half is dropped: old times stay bracketed, less closely.
///
/// Threads   one at a time
class ClockMap {
 public:
  static constexpr std::size_t kMostReadings = 256;

  /// A reading less than 1 us after the last one is not kept: its own error would bend the line.
  void add(ClockReading reading);

  /// The line for `trace_ns`. While it still covers the next time of a block, there is no need to ask again.
  [[nodiscard]] ClockSegment segment_at(std::int64_t trace_ns) const;

  [[nodiscard]] std::size_t size() const { return readings_.size(); }

 private:
  std::vector<ClockReading> readings_;
};

}  // namespace ringside
