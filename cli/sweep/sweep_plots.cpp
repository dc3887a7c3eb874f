#include "cli/sweep/sweep_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "base/wording.h"
#include "cli/plots/svg.h"
#include "cli/sweep/sweep_tables.h"

namespace ringside::cli {
namespace {

using study::SweepReport;
using study::SweepRow;

constexpr double kWidth = 980;
constexpr const char* kInk = "var(--ink)";
constexpr const char* kSoft = "var(--soft)";
constexpr const char* kGrid = "var(--line)";
/// Colours that readers with colour deficiencies can distinguish (Okabe and Ito).
constexpr std::array kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                              "#E69F00", "#56B4E9", "#8C6D1F", "#777777"};

/// A linear axis from 0, in steps of 1, 2 or 5 times a power of ten.
struct Scale {
  double most = 1, step = 1, begin = 0, end = 1;

  static Scale over(double most, double begin, double end, int steps) {
    if (!(most > 0)) most = 1;
    const double raw = most / steps;
    const double decade = std::pow(10, std::floor(std::log10(raw)));
    const double digit = raw / decade;
    const double step = decade * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
    return {std::ceil(most / step) * step, step, begin, end};
  }
  [[nodiscard]] double at(double value) const { return begin + (end - begin) * value / most; }
};

/// Returns a step's time, or that of a million tokens.
double time_of(const SweepReport& report, const SweepRow& row, Seconds part) {
  return report.per_work(row, part.count());
}

/// Seconds, and the unit that fits the largest of them.
struct TimeUnit {
  double factor = 1;
  const char* name = "s";

  static TimeUnit of(double most) {
    if (most < 1e-3) return {1e6, "us"};
    if (most < 1) return {1e3, "ms"};
    if (most < 300) return {1, "s"};
    return {1.0 / 60, "min"};
  }
};

void draw_whisker(Svg& svg, double x1, double x2, double y) {
  svg.line(x1, y, x2, y, kInk, 1.4);
  svg.line(x1, y - 4, x1, y + 4, kInk, 1.4);
  svg.line(x2, y - 4, x2, y + 4, kInk, 1.4);
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string step_bars(const SweepReport& report, const std::vector<std::size_t>& rows) {
  constexpr double kBar = 20, kRow = 32, kTop = 34, kLabelWidth = 410, kRight = 90;
  double most = 0;
  for (const std::size_t i : rows) {
    const SweepRow& row = report.rows[i];
    most = std::max(most, time_of(report, row, row.result->step + row.error));
  }
  const TimeUnit unit = TimeUnit::of(most);
  const Scale scale = Scale::over(most * unit.factor, kLabelWidth, kWidth - kRight, 8);
  const double bottom = kTop + kRow * static_cast<double>(rows.size());
  Svg svg;
  struct Part {
    const char* name;
    const char* colour;
  };
  constexpr std::array<Part, 3> kParts{{{"compute", "var(--compute)"},
                                        {"communication that nothing hides", "var(--exposed)"},
                                        {"waiting: bubbles, late ranks", "var(--idle)"}}};
  double x = kLabelWidth;
  for (const Part& part : kParts) {
    svg.box({x, 4, 12, 12}, part.colour, "none", 2);
    svg.text(x + 17, 14, part.name, 12.5, "start", kSoft);
    x += 40 + 6.4 * static_cast<double>(std::string_view(part.name).size());
  }
  for (double value = 0; value <= scale.most * 1.0001; value += scale.step) {
    svg.line(scale.at(value), kTop - 8, scale.at(value), bottom, kGrid, 1);
    svg.text(scale.at(value), bottom + 16, fmt::format("{:g}", value), 12, "middle", kSoft);
  }
  svg.text((kLabelWidth + kWidth - kRight) / 2, bottom + 34,
           fmt::format("{} for {}", unit.name, report.work()), 12.5, "middle", kSoft);
  double y = kTop;
  for (const std::size_t i : rows) {
    const SweepRow& row = report.rows[i];
    const PointResult& result = *row.result;
    svg.text(kLabelWidth - 10, y + kBar / 2 + 4.5, cut(report.label(row), 58), 13, "end", kInk);
    double from = 0;
    const std::array<Seconds, 3> parts{result.compute, result.exposed, result.idle()};
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const double to = from + std::max(0.0, time_of(report, row, parts[part]) * unit.factor);
      svg.box({scale.at(from), y, scale.at(to) - scale.at(from), kBar}, kParts[part].colour, "none",
              0);
      from = to;
    }
    const double all = time_of(report, row, result.step) * unit.factor;
    const double error = time_of(report, row, row.error) * unit.factor;
    draw_whisker(svg, scale.at(std::max(0.0, all - error)), scale.at(all + error), y + kBar / 2);
    svg.text(scale.at(all + error) + 8, y + kBar / 2 + 4.5,
             fmt::format("{} {}", short_number(all), unit.name), 13, "start", kInk);
    y += kRow;
  }
  svg.line(kLabelWidth, kTop - 8, kLabelWidth, bottom, kSoft, 1);
  return svg.in_page(kWidth, bottom + 42, "time of each point, in parts");
}

std::string money_plot(const SweepReport& report, const std::vector<std::size_t>& rows) {
  struct Dot {
    double time, money;
    std::size_t row;
  };
  std::vector<Dot> dots;
  double slowest = 0;
  double dearest = 0;
  for (const std::size_t i : rows) {
    const SweepRow& row = report.rows[i];
    if (!row.money) continue;
    dots.push_back({time_of(report, row, row.result->step), report.per_work(row, *row.money), i});
    slowest = std::max(slowest, dots.back().time + time_of(report, row, row.error));
    dearest = std::max(dearest, dots.back().money);
  }
  if (dots.size() < 2) return {};
  constexpr double kLeft = 80, kTop = 20, kBottom = 360, kRight = 240;
  const TimeUnit unit = TimeUnit::of(slowest);
  const Scale times = Scale::over(slowest * unit.factor, kLeft, kWidth - kRight, 8);
  const Scale moneys = Scale::over(dearest * 1.08, kBottom, kTop, 5);
  Svg svg;
  for (double value = 0; value <= times.most * 1.0001; value += times.step) {
    svg.line(times.at(value), kTop, times.at(value), kBottom, kGrid, 1);
    svg.text(times.at(value), kBottom + 17, fmt::format("{:g}", value), 12, "middle", kSoft);
  }
  for (double value = 0; value <= moneys.most * 1.0001; value += moneys.step) {
    svg.line(kLeft, moneys.at(value), kWidth - kRight, moneys.at(value), kGrid, 1);
    svg.text(kLeft - 8, moneys.at(value) + 4, fmt::format("{:g}", value), 12, "end", kSoft);
  }
  svg.text((kLeft + kWidth - kRight) / 2, kBottom + 38,
           fmt::format("{} for {}: further left is faster", unit.name, report.work()), 12.5,
           "middle", kSoft);
  svg.text(kLeft, kTop - 6,
           fmt::format("{} for {}: lower is cheaper", report.sweep.currency, report.work()), 12.5,
           "start", kSoft);
  std::ranges::sort(dots, {}, [](const Dot& dot) { return std::pair(dot.time, dot.money); });
  const Dot* before = nullptr;
  std::set<std::size_t> unbeaten;
  for (const Dot& dot : dots) {
    if (before != nullptr && dot.money >= before->money) continue;
    unbeaten.insert(dot.row);
    if (before != nullptr) {
      svg.line(times.at(before->time * unit.factor), moneys.at(before->money),
               times.at(dot.time * unit.factor), moneys.at(dot.money), kSoft, 1.4, "5 4");
    }
    before = &dot;
  }
  constexpr std::size_t kMostWords = 8;
  const std::vector<study::SweepCluster>& clusters = report.sweep.clusters;
  const bool has_legend = dots.size() > kMostWords && clusters.size() <= kColours.size();
  for (std::size_t i = 0; has_legend && i < clusters.size(); ++i) {
    const double y = kTop + 8 + 20 * static_cast<double>(i);
    svg.circle(kWidth - kRight + 30, y - 4, 6, kColours[i], kInk);
    svg.text(kWidth - kRight + 44, y, cut(clusters[i].name, 30), 12.5, "start", kInk);
  }
  std::vector<std::pair<double, double>> labels;
  for (const Dot& dot : dots) {
    const SweepRow& row = report.rows[dot.row];
    const double dot_x = times.at(dot.time * unit.factor);
    const double dot_y = moneys.at(dot.money);
    const double error = time_of(report, row, row.error) * unit.factor;
    const double right = times.at(dot.time * unit.factor + error);
    draw_whisker(svg, times.at(std::max(0.0, dot.time * unit.factor - error)), right, dot_y);
    svg.circle(dot_x, dot_y, 6, kColours[row.point.cluster % kColours.size()], kInk);
    // With many points only the unbeaten ones have labels: the table has all.
    if (dots.size() > kMostWords && !unbeaten.contains(dot.row)) continue;
    // Labels of neighbouring dots are placed above each other.
    constexpr double kWords = 260, kLine = 15;
    const double label_x = right + 9;
    double label_y = dot_y + 4;
    const auto is_taken = [&](const std::pair<double, double>& other) {
      return std::abs(other.first - label_x) < kWords && std::abs(other.second - label_y) < kLine;
    };
    while (std::ranges::any_of(labels, is_taken)) label_y -= kLine;
    labels.emplace_back(label_x, label_y);
    svg.text(label_x, label_y, cut(report.label(row), 44), 12.5, "start", kInk);
  }
  return svg.in_page(kWidth, kBottom + 46, "time against money");
}

std::string setting_plot(const SweepReport& report, std::size_t axis,
                         const std::vector<std::size_t>& rows) {
  const study::VaryAxis& values = report.sweep.vary[axis];
  std::vector<double> xs;
  for (const std::string& value : values.values) {
    const auto x = number_of(value);
    if (!x) return {};
    xs.push_back(*x);
  }
  if (xs.size() < 3) return {};
  struct Point {
    double x, time, error;
  };
  std::map<std::string, std::vector<Point>> lines;
  double most = 0;
  for (const std::size_t i : rows) {
    const SweepRow& row = report.rows[i];
    const double time = time_of(report, row, row.result->step);
    const double error = time_of(report, row, row.error);
    lines[report.label(row, axis)].push_back(
        {*number_of(row.point.settings[axis].second), time, error});
    most = std::max(most, time + error);
  }
  if (lines.empty() || lines.size() > kColours.size()) return {};
  constexpr double kLeft = 80, kTop = 20, kBottom = 320, kRight = 330;
  const auto [least_x, most_x] = std::ranges::minmax(xs);
  const double span = most_x > least_x ? most_x - least_x : 1;
  const auto x_of = [&](double value) {
    return kLeft + 16 + (value - least_x) / span * (kWidth - kRight - kLeft - 32);
  };
  const TimeUnit unit = TimeUnit::of(most);
  const Scale times = Scale::over(most * unit.factor, kBottom, kTop, 5);
  Svg svg;
  for (double value = 0; value <= times.most * 1.0001; value += times.step) {
    svg.line(kLeft, times.at(value), kWidth - kRight, times.at(value), kGrid, 1);
    svg.text(kLeft - 8, times.at(value) + 4, fmt::format("{:g}", value), 12, "end", kSoft);
  }
  for (std::size_t i = 0; i < xs.size(); ++i) {
    svg.text(x_of(xs[i]), kBottom + 17, values.values[i], 12, "middle", kSoft);
  }
  svg.text((kLeft + kWidth - kRight) / 2, kBottom + 38, values.key, 12.5, "middle", kSoft);
  svg.text(kLeft, kTop - 6, fmt::format("{} for {}", unit.name, report.work()), 12.5, "start",
           kSoft);
  std::size_t number = 0;
  for (auto& [name, points] : lines) {
    const char* const colour = kColours[number];
    std::ranges::sort(points, {}, &Point::x);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double y = times.at(points[i].time * unit.factor);
      const double x = x_of(points[i].x);
      const double error = points[i].error * unit.factor;
      svg.line(x, times.at(std::max(0.0, points[i].time * unit.factor - error)), x,
               times.at(points[i].time * unit.factor + error), colour, 1);
      if (i > 0) {
        svg.line(x_of(points[i - 1].x), times.at(points[i - 1].time * unit.factor), x, y, colour,
                 2);
      }
      svg.circle(x, y, 4, colour, colour);
    }
    const double legend_y = kTop + 12 + 20 * static_cast<double>(number++);
    svg.line(kWidth - kRight + 20, legend_y - 4, kWidth - kRight + 44, legend_y - 4, colour, 3);
    svg.text(kWidth - kRight + 52, legend_y, cut(name, 38), 12.5, "start", kInk);
  }
  return svg.in_page(kWidth, kBottom + 46, "time over " + values.key);
}

}  // namespace ringside::cli
