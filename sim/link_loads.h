#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "ringside/units.h"
#include "sim/network.h"

namespace ringside {

/// The bytes that one link carried over time.
struct LinkLoad {
  int link = -1;                       ///< id in the network
  double bytes = 0;                    ///< bytes on the wire, of the whole call
  std::vector<double> over_time = {};  ///< bytes in each time span; empty: only the sum is known
};

/// The bytes that each link carried during a call.
struct LinkLoads {
  /// Length of one entry of over_time; the first one begins with the launch.
  Seconds span{};
  std::vector<LinkLoad> links = {};  ///< links that carried bytes, by id
};

/// The bytes of many lines (see event/event_engine.h) over time. The bytes of a message are spread
/// evenly over the time in which it crosses the links.
///
/// memory   512 bytes per line
/// Threads  one
class LineTimes {
 public:
  /// Maximum number of spans. When time exceeds them, each two are merged: in the end at least half
  /// of them are in use.
  static constexpr std::size_t kMostSpans = 128;

  explicit LineTimes(std::size_t lines) : lines_(lines) {}

  /// shape  line < lines; begin <= end, s
  void add(std::size_t line, double bytes, double begin, double end);

  [[nodiscard]] Seconds span() const { return Seconds{span_}; }
  /// Returns the bytes of the line in each span; empty if the line has carried none.
  [[nodiscard]] std::span<const float> of(std::size_t line) const { return lines_[line]; }

 private:
  void reach(double end);

  double span_ = 1e-9;  // s; a nanosecond is shorter than any message
  std::vector<std::vector<float>> lines_;
};

/// Adds up the bytes of each link, line by line, and on request also over time.
class LoadSums {
 public:
  /// times  bytes of the lines over time; null: not recorded
  explicit LoadSums(const LineTimes* times) : times_(times) {}

  /// Adds the bytes of one line to its links.
  /// line   number of the line in `times`
  /// bytes  bytes on the wire that the line carried over each of the links
  void add(std::size_t line, double bytes, std::span<const int> links);

  /// Returns the bytes of each link that carried some, by id.
  [[nodiscard]] const std::map<int, double>& bytes() const { return bytes_; }
  [[nodiscard]] LinkLoads loads() &&;

 private:
  const LineTimes* times_;
  std::map<int, double> bytes_;
  std::map<int, std::vector<double>> over_time_;
};

}  // namespace ringside
