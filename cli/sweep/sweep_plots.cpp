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

/// Calls draw(value, place) for each step of the axis. The factor keeps the last one in spite of rounding.
template <typename Draw>
void for_each_step(const Scale& scale, const Draw& draw) {
  for (double value = 0; value <= scale.most * 1.0001; value += scale.step) {
    draw(fmt::format("{:g}", value), scale.at(value));
  }
}

// ---- bars --------------------------------------------------------------------------------------

constexpr double kBar = 20, kRow = 32, kBarsTop = 34, kLabelWidth = 410, kBarsRight = 90;

/// A part of a step's time.
struct Part {
  const char* name;
  const char* colour;
};
constexpr std::array<Part, 3> kParts{{{"compute", "var(--compute)"},
                                      {"communication that nothing hides", "var(--exposed)"},
                                      {"waiting: bubbles, late ranks", "var(--idle)"}}};

void draw_part_names(Svg& svg) {
  constexpr double kLetter = 6.4;  // mean width at 12.5 px
  double x = kLabelWidth;
  for (const Part& part : kParts) {
    svg.box({x, 4, 12, 12}, part.colour, "none", 2);
    svg.text(x + 17, 14, part.name, 12.5, "start", kSoft);
    x += 40 + kLetter * static_cast<double>(std::string_view(part.name).size());
  }
}

/// Draws the row's label, the parts of its step, its error and its time, from y down.
void draw_bar(Svg& svg, const SweepReport& report, const SweepRow& row, const TimeUnit& unit,
              const Scale& scale, double y) {
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
}

// ---- time against money ------------------------------------------------------------------------

/// A point of the sweep whose hosts have a price.
struct Dot {
  double time, error;  ///< s
  double money;
  std::size_t row;  ///< in the report
};

class MoneyPlot {
 public:
  /// dots  at least two
  MoneyPlot(const SweepReport& report, std::vector<Dot> dots)
      : report_(report), dots_(std::move(dots)) {
    std::ranges::sort(dots_, {}, [](const Dot& dot) { return std::pair(dot.time, dot.money); });
    const Dot& slowest =
        *std::ranges::max_element(dots_, {}, [](const Dot& dot) { return dot.time + dot.error; });
    const double dearest = std::ranges::max_element(dots_, {}, &Dot::money)->money;
    unit_ = TimeUnit::of(slowest.time + slowest.error);
    times_ = Scale::over((slowest.time + slowest.error) * unit_.factor, kLeft, kWidth - kRight, 8);
    moneys_ = Scale::over(dearest * 1.08, kBottom, kTop, 5);  // room above the dearest
  }

  std::string draw() {
    draw_axes();
    draw_unbeaten();
    if (has_many() && report_.sweep.clusters.size() <= kColours.size()) draw_clusters();
    for (const Dot& dot : dots_) draw_dot(dot);
    return svg_.in_page(kWidth, kBottom + 46, "time against money");
  }

 private:
  static constexpr double kLeft = 80, kTop = 20, kBottom = 360, kRight = 240;
  static constexpr std::size_t kMostLabels = 8;

  /// With many points only the unbeaten ones have labels: the table has all.
  [[nodiscard]] bool has_many() const { return dots_.size() > kMostLabels; }
  [[nodiscard]] double x_of(double seconds) const { return times_.at(seconds * unit_.factor); }

  void draw_axes() {
    for_each_step(times_, [&](const std::string& value, double x) {
      svg_.line(x, kTop, x, kBottom, kGrid, 1);
      svg_.text(x, kBottom + 17, value, 12, "middle", kSoft);
    });
    for_each_step(moneys_, [&](const std::string& value, double y) {
      svg_.line(kLeft, y, kWidth - kRight, y, kGrid, 1);
      svg_.text(kLeft - 8, y + 4, value, 12, "end", kSoft);
    });
    svg_.text((kLeft + kWidth - kRight) / 2, kBottom + 38,
              fmt::format("{} for {}: further left is faster", unit_.name, report_.work()), 12.5,
              "middle", kSoft);
    svg_.text(kLeft, kTop - 6,
              fmt::format("{} for {}: lower is cheaper", report_.sweep.currency, report_.work()),
              12.5, "start", kSoft);
  }

  /// Joins the points that no other point beats in both time and money.
  void draw_unbeaten() {
    const Dot* before = nullptr;
    for (const Dot& dot : dots_) {
      if (before != nullptr && dot.money >= before->money) continue;
      unbeaten_.insert(dot.row);
      if (before != nullptr) {
        svg_.line(x_of(before->time), moneys_.at(before->money), x_of(dot.time),
                  moneys_.at(dot.money), kSoft, 1.4, "5 4");
      }
      before = &dot;
    }
  }

  void draw_clusters() {
    const std::vector<study::SweepCluster>& clusters = report_.sweep.clusters;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      const double y = kTop + 8 + 20 * static_cast<double>(i);
      svg_.circle(kWidth - kRight + 30, y - 4, 6, kColours[i], kInk);
      svg_.text(kWidth - kRight + 44, y, cut(clusters[i].name, 30), 12.5, "start", kInk);
    }
  }

  void draw_dot(const Dot& dot) {
    const SweepRow& row = report_.rows[dot.row];
    const double y = moneys_.at(dot.money);
    const double right = x_of(dot.time + dot.error);
    draw_whisker(svg_, x_of(std::max(0.0, dot.time - dot.error)), right, y);
    svg_.circle(x_of(dot.time), y, 6, kColours[row.point.cluster % kColours.size()], kInk);
    if (!has_many() || unbeaten_.contains(dot.row)) draw_label(row, right + 9, y + 4);
  }

  /// Moves the label up until it is clear of the labels of neighbouring dots.
  void draw_label(const SweepRow& row, double x, double y) {
    constexpr double kLabel = 260, kLine = 15;
    const auto is_taken = [&](const std::pair<double, double>& other) {
      return std::abs(other.first - x) < kLabel && std::abs(other.second - y) < kLine;
    };
    while (std::ranges::any_of(labels_, is_taken)) y -= kLine;
    labels_.emplace_back(x, y);
    svg_.text(x, y, cut(report_.label(row), 44), 12.5, "start", kInk);
  }

  const SweepReport& report_;
  std::vector<Dot> dots_;  ///< fastest first
  TimeUnit unit_;
  Scale times_, moneys_;
  std::set<std::size_t> unbeaten_;                 ///< rows
  std::vector<std::pair<double, double>> labels_;  ///< where labels begin
  Svg svg_;
};

// ---- time over a setting -----------------------------------------------------------------------

struct Point {
  double x;            ///< the setting's value
  double time, error;  ///< s
};

/// Returns the points of each combination of the other settings, by its label, in order of the value.
/// shape  every value of the axis is a number
std::map<std::string, std::vector<Point>> lines_over(const SweepReport& report, std::size_t axis,
                                                     const std::vector<std::size_t>& rows) {
  std::map<std::string, std::vector<Point>> lines;
  for (const std::size_t i : rows) {
    const SweepRow& row = report.rows[i];
    lines[report.label(row, axis)].push_back({*number_of(row.point.settings[axis].second),
                                              time_of(report, row, row.result->step),
                                              time_of(report, row, row.error)});
  }
  for (auto& [label, points] : lines) std::ranges::sort(points, {}, &Point::x);
  return lines;
}

}  // namespace

std::string step_bars(const SweepReport& report, const std::vector<std::size_t>& rows) {
  double most = 0;
  for (const std::size_t i : rows) {
    const SweepRow& row = report.rows[i];
    most = std::max(most, time_of(report, row, row.result->step + row.error));
  }
  const TimeUnit unit = TimeUnit::of(most);
  const Scale scale = Scale::over(most * unit.factor, kLabelWidth, kWidth - kBarsRight, 8);
  const double bottom = kBarsTop + kRow * static_cast<double>(rows.size());
  Svg svg;
  draw_part_names(svg);
  for_each_step(scale, [&](const std::string& value, double x) {
    svg.line(x, kBarsTop - 8, x, bottom, kGrid, 1);
    svg.text(x, bottom + 16, value, 12, "middle", kSoft);
  });
  svg.text((kLabelWidth + kWidth - kBarsRight) / 2, bottom + 34,
           fmt::format("{} for {}", unit.name, report.work()), 12.5, "middle", kSoft);
  double y = kBarsTop;
  for (const std::size_t i : rows) {
    draw_bar(svg, report, report.rows[i], unit, scale, y);
    y += kRow;
  }
  svg.line(kLabelWidth, kBarsTop - 8, kLabelWidth, bottom, kSoft, 1);
  return svg.in_page(kWidth, bottom + 42, "time of each point, in parts");
}

std::string money_plot(const SweepReport& report, const std::vector<std::size_t>& rows) {
  std::vector<Dot> dots;
  for (const std::size_t i : rows) {
    const SweepRow& row = report.rows[i];
    if (!row.money) continue;
    dots.push_back({.time = time_of(report, row, row.result->step),
                    .error = time_of(report, row, row.error),
                    .money = report.per_work(row, *row.money),
                    .row = i});
  }
  return dots.size() < 2 ? std::string() : MoneyPlot(report, std::move(dots)).draw();
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
  const auto lines = lines_over(report, axis, rows);
  if (lines.empty() || lines.size() > kColours.size()) return {};
  constexpr double kLeft = 80, kTop = 20, kBottom = 320, kRight = 330;
  const auto [least_x, most_x] = std::ranges::minmax(xs);
  const double span = most_x > least_x ? most_x - least_x : 1;
  const auto x_of = [&](double value) {
    return kLeft + 16 + (value - least_x) / span * (kWidth - kRight - kLeft - 32);
  };
  double most = 0;
  for (const auto& [label, points] : lines) {
    for (const Point& point : points) most = std::max(most, point.time + point.error);
  }
  const TimeUnit unit = TimeUnit::of(most);
  const Scale times = Scale::over(most * unit.factor, kBottom, kTop, 5);
  const auto y_of = [&](double seconds) { return times.at(seconds * unit.factor); };
  Svg svg;
  for_each_step(times, [&](const std::string& value, double y) {
    svg.line(kLeft, y, kWidth - kRight, y, kGrid, 1);
    svg.text(kLeft - 8, y + 4, value, 12, "end", kSoft);
  });
  for (std::size_t i = 0; i < xs.size(); ++i) {
    svg.text(x_of(xs[i]), kBottom + 17, values.values[i], 12, "middle", kSoft);
  }
  svg.text((kLeft + kWidth - kRight) / 2, kBottom + 38, values.key, 12.5, "middle", kSoft);
  svg.text(kLeft, kTop - 6, fmt::format("{} for {}", unit.name, report.work()), 12.5, "start",
           kSoft);
  std::size_t number = 0;
  for (const auto& [name, points] : lines) {
    const char* const colour = kColours[number];
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto& [value, time, error] = points[i];
      const double x = x_of(value);
      svg.line(x, y_of(std::max(0.0, time - error)), x, y_of(time + error), colour, 1);
      if (i > 0) {
        svg.line(x_of(points[i - 1].x), y_of(points[i - 1].time), x, y_of(time), colour, 2);
      }
      svg.circle(x, y_of(time), 4, colour, colour);
    }
    const double legend_y = kTop + 12 + 20 * static_cast<double>(number++);
    svg.line(kWidth - kRight + 20, legend_y - 4, kWidth - kRight + 44, legend_y - 4, colour, 3);
    svg.text(kWidth - kRight + 52, legend_y, cut(name, 38), 12.5, "start", kInk);
  }
  return svg.in_page(kWidth, kBottom + 46, "time over " + values.key);
}

}  // namespace ringside::cli
