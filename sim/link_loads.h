#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "ringside/units.h"
#include "sim/network.h"

namespace ringside {

/// What a link carried, and when.
struct LinkLoad {
  int link = -1;                       ///< id in the network
  double bytes = 0;                    ///< on the wire, of the whole call
  std::vector<double> over_time = {};  ///< bytes in each span; empty: only their sum is known
};

struct LinkLoads {
  Seconds span{};                    ///< of one entry of over_time, from the launch on
  std::vector<LinkLoad> links = {};  ///< by id; those that carried something
};

/// Bytes of many lines over time. A message's are spread evenly over the time in which it crosses.
///
/// memory   512 bytes a line
/// Threads  one
class LineTimes {
 public:
  /// Spans are halved in number whenever time goes beyond them: between half of it and all are used in the end.
  static constexpr std::size_t kMostSpans = 128;

  explicit LineTimes(std::size_t lines) : lines_(lines) {}

  /// shape  line < lines; begin <= end, s
  void add(std::size_t line, double bytes, double begin, double end);

  [[nodiscard]] Seconds span() const { return Seconds{span_}; }
  /// Empty where the line has carried nothing.
  [[nodiscard]] std::span<const float> of(std::size_t line) const { return lines_[line]; }

 private:
  void reach(double end);

  double span_ = 1e-9;  // s; a nanosecond is shorter than any message
  std::vector<std::vector<float>> lines_;
};

/// Adds up what links carry, line by line, for the busiest of them and, where asked for, all.
class LoadSums {
 public:
  /// times  of the lines; null: not recorded
  explicit LoadSums(const LineTimes* times) : times_(times) {}

  /// line   of the times
  /// bytes  that it carried on the wire over each of the links
  void add(std::size_t line, double bytes, std::span<const int> links);

  /// Of each link that carried something, by id: its bytes.
  [[nodiscard]] const std::map<int, double>& bytes() const { return bytes_; }
  [[nodiscard]] LinkLoads loads() &&;

 private:
  const LineTimes* times_;
  std::map<int, double> bytes_;
  std::map<int, std::vector<double>> over_time_;
};

}  // namespace ringside
