#pragma once

#include <string>
#include <vector>

#include "cli/bench_report.h"

namespace ringside::cli {

/// One curve of a plot: a time for each size.
struct PlotCurve {
  struct Point {
    Bytes bytes;
    Seconds time{0};
    BytesPerSecond busbw;
    bool is_pick = false;  ///< of the grid: what is chosen at this size
  };
  std::string name;
  std::string colour;  ///< as SVG has it
  std::string dashes;  ///< SVG's stroke-dasharray; empty: a solid line
  std::vector<Point> points;
};

/// Out of place and in place.
std::vector<PlotCurve> curves_of(const std::vector<BenchRow>& rows);

/// A curve for each algorithm and protocol; the colour tells the algorithm, the dashes the protocol.
std::vector<PlotCurve> curves_of(const BenchJob& job, const std::vector<GridRow>& rows);

/// Time and bus bandwidth over size as an SVG document, side by side, all axes logarithmic. What is not
/// positive has no place there and is left out.
std::string plot_svg(const std::string& title, const std::vector<PlotCurve>& curves);

}  // namespace ringside::cli
