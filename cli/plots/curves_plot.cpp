#include "cli/plots/curves_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "base/text.h"
#include "cli/plots/svg.h"

namespace ringside::cli {
namespace {

using study::Curve;

constexpr double kPanelWidth = 430, kPanelHeight = 380;
constexpr double kLeft = 70, kTop = 70, kGap = 80, kLegendAt = 2 * (kLeft + kPanelWidth) + 50;
constexpr double kWidth = kLegendAt + 250;
constexpr double kLineHeight = 17;
constexpr const char* kGrid = "#ddd";

/// Colours that readers with colour deficiencies can distinguish (Okabe and Ito), by the numbers of Algorithm;
/// repeated from the first if there are more.
constexpr std::array kColours{"#D55E00", "#0072B2", "#E69F00", "#8C6D1F", "#009E73",
                              "#56B4E9", "#777777", "#CC79A7", "#000000"};

const char* dashes_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::LL:
      return "2 3";
    case Protocol::LL128:
      return "8 3";
    case Protocol::Simple:
      break;
  }
  return "";
}

const char* colour_of(const Curve& curve) {
  if (curve.choice)
    return kColours[static_cast<std::size_t>(curve.choice->first) % kColours.size()];
  return curve.is_secondary ? "#D55E00" : "#0072B2";
}

const char* dashes_of(const Curve& curve) {
  if (curve.choice) return dashes_of(curve.choice->second);
  return curve.is_secondary ? "8 3" : "";
}

using Value = std::function<double(const Curve::Point&)>;

double size_of_point(const Curve::Point& point) { return static_cast<double>(point.bytes.value); }

/// One logarithmic axis: values from `least` to `most` on pixels from `begin` to `end`.
struct Axis {
  double least = 1, most = 2, begin = 0, end = 1;

  [[nodiscard]] double at(double value) const {
    return begin + (end - begin) * std::log(value / least) / std::log(most / least);
  }
};

Axis axis_over(const std::vector<Curve>& curves, const Value& value, double begin, double end) {
  double least = std::numeric_limits<double>::max();
  double most = 0;
  for (const Curve& curve : curves) {
    for (const Curve::Point& point : curve.points) {
      if (value(point) <= 0) continue;
      least = std::min(least, value(point));
      most = std::max(most, value(point));
    }
  }
  if (most <= 0) least = most = 1;
  // A margin, which also makes room for a run of one size.
  return {least / 1.3, most * 1.3, begin, end};
}

/// A panel's place: where its left upper corner is.
struct Panel {
  double x, y;
  [[nodiscard]] double right() const { return x + kPanelWidth; }
  [[nodiscard]] double bottom() const { return y + kPanelHeight; }
};

/// Every size that is a power of two, or as many of them as have room for labels.
void draw_sizes(Svg& svg, const Panel& panel, const Axis& sizes) {
  const double first = std::ceil(std::log2(sizes.least));
  const double last = std::floor(std::log2(sizes.most));
  const double step = std::max(1.0, std::ceil((last - first) / 9));
  for (double power = first; power <= last; power += step) {
    const double x = sizes.at(std::exp2(power));
    svg.line(x, panel.y, x, panel.bottom(), kGrid, 1);
    const auto bytes = static_cast<std::uint64_t>(std::exp2(std::max(0.0, power)));
    svg.text(x, panel.bottom() + 16, format_bytes(Bytes{bytes}), 11, "middle");
  }
  svg.text((panel.x + panel.right()) / 2, panel.bottom() + 36, "size (bytes)", 12, "middle");
}

/// 1, 2 and 5 of each decade; with many decades only the 1s have labels.
void draw_values(Svg& svg, const Panel& panel, const Axis& values) {
  const bool are_few = std::log10(values.most / values.least) < 3;
  for (double decade = std::floor(std::log10(values.least)); decade <= std::log10(values.most);
       ++decade) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10, decade);
      if (value < values.least || value > values.most) continue;
      const double y = values.at(value);
      svg.line(panel.x, y, panel.right(), y, kGrid, digit == 1 ? 1 : 0.5);
      if (digit == 1 || are_few) {
        svg.text(panel.x - 6, y + 4, fmt::format("{:g}", value), 11, "end");
      }
    }
  }
}

void draw_curve(Svg& svg, const Curve& curve, const Axis& sizes, const Axis& values,
                const Value& value) {
  const Curve::Point* before = nullptr;
  for (const Curve::Point& point : curve.points) {
    if (size_of_point(point) <= 0 || value(point) <= 0) continue;
    const double x = sizes.at(size_of_point(point));
    const double y = values.at(value(point));
    if (before != nullptr) {
      svg.line(sizes.at(size_of_point(*before)), values.at(value(*before)), x, y, colour_of(curve),
               1.6, dashes_of(curve));
    }
    before = &point;
  }
}

/// Drawn over all lines, so that none hides them.
void draw_points(Svg& svg, const Curve& curve, const Axis& sizes, const Axis& values,
                 const Value& value) {
  for (const Curve::Point& point : curve.points) {
    if (size_of_point(point) <= 0 || value(point) <= 0) continue;
    const double x = sizes.at(size_of_point(point));
    const double y = values.at(value(point));
    if (point.is_pick) svg.circle(x, y, 7, "none", "#222");
    svg.circle(x, y, 2.2, colour_of(curve), colour_of(curve));
  }
}

void draw_panel(Svg& svg, const Panel& panel, const std::string& title,
                const std::vector<Curve>& curves, const Value& value) {
  const Axis sizes = axis_over(curves, size_of_point, panel.x, panel.right());
  const Axis values = axis_over(curves, value, panel.bottom(), panel.y);
  svg.text(panel.x, panel.y - 10, title, 13, "start");
  draw_sizes(svg, panel, sizes);
  draw_values(svg, panel, values);
  for (const Curve& curve : curves) draw_curve(svg, curve, sizes, values, value);
  for (const Curve& curve : curves) draw_points(svg, curve, sizes, values, value);
  svg.line(panel.x, panel.bottom(), panel.right(), panel.bottom(), "#555", 1);
  svg.line(panel.x, panel.y, panel.x, panel.bottom(), "#555", 1);
}

bool has_picks(const std::vector<Curve>& curves) {
  return std::ranges::any_of(curves, [](const Curve& curve) {
    return std::ranges::any_of(curve.points, &Curve::Point::is_pick);
  });
}

/// returns  where it ends
double draw_legend(Svg& svg, const std::vector<Curve>& curves) {
  double y = kTop + 6;
  for (const Curve& curve : curves) {
    svg.line(kLegendAt, y - 4, kLegendAt + 34, y - 4, colour_of(curve), 1.8, dashes_of(curve));
    svg.text(kLegendAt + 42, y, curve.name, 12, "start");
    y += kLineHeight;
  }
  if (!has_picks(curves)) return y;
  y += kLineHeight / 2;
  svg.circle(kLegendAt + 17, y - 4, 7, "none", "#222");
  svg.text(kLegendAt + 42, y, "chosen automatically", 12, "start");
  return y + kLineHeight;
}

}  // namespace

std::string curves_svg(const std::string& title, const std::vector<Curve>& curves) {
  Svg svg;
  svg.text(kLeft, 28, title, 16, "start");
  draw_panel(svg, {kLeft, kTop}, "time (us)", curves,
             [](const Curve::Point& point) { return in_us(point.time); });
  draw_panel(svg, {kLeft + kPanelWidth + kGap, kTop}, "bus bandwidth (GB/s)", curves,
             [](const Curve::Point& point) { return in_gbs(point.busbw); });
  const double legend_end = draw_legend(svg, curves);
  return svg.finish(kWidth, std::max(kTop + kPanelHeight + 55, legend_end + 10));
}

}  // namespace ringside::cli
