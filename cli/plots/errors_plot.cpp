#include "cli/plots/errors_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/plots/svg.h"

namespace ringside::cli {
namespace {

using study::ErrorSummary;
using study::SystemScore;

constexpr double kNames = 250, kPanel = 300, kBetween = 30, kHead = 110, kLine = 18;
constexpr double kMost = 4;  // times the measured one, and a part of it
constexpr const char* kSimulated = "#0072B2";
constexpr const char* kNccl = "#D55E00";
constexpr const char* kFaint = "#ddd";

double left_of(std::size_t panel) {
  return kNames + static_cast<double>(panel) * (kPanel + kBetween);
}

/// shape  ratio > 0
double place_of(std::size_t panel, double ratio) {
  const double share = (std::log(ratio) / std::log(kMost) + 1) / 2;
  return left_of(panel) + kPanel * std::clamp(share, 0.0, 1.0);
}

void draw_axis(Svg& svg, std::size_t panel, double bottom) {
  constexpr std::array<std::pair<double, const char*>, 5> kMarks{
      {{0.25, "x 1/4"}, {0.5, "x 1/2"}, {1, "as measured"}, {2, "x 2"}, {kMost, "x 4"}}};
  svg.text(left_of(panel) + kPanel / 2, kHead - 36, study::name_of_size_class(panel), 13, "middle");
  for (const auto& [ratio, name] : kMarks) {
    const double x = place_of(panel, ratio);
    svg.line(x, kHead - 10, x, bottom, ratio == 1 ? "#777" : kFaint, 1);
    svg.text(x, kHead - 16, name, 10, "middle");
  }
}

void draw_system(Svg& svg, const study::Validation& validation, const SystemScore& system,
                 double y) {
  svg.text(kNames - 20, y + 4, system.name, 11, "end");
  for (const study::ScoredRow& row : validation.rows) {
    if (!row.simulated || study::is_apart(row) != system.is_apart ||
        row.measured->system != system.name) {
      continue;
    }
    const double x =
        place_of(size_class_of(row.measured->bytes), *row.simulated / row.measured->time);
    svg.circle(x, y, 1.5, "#9ecae1", "none");
  }
  for (std::size_t panel = 0; panel < kSizeClasses; ++panel) {
    if (const ErrorSummary& nccl = system.nccl[panel]; nccl.rows > 0) {
      svg.circle(place_of(panel, 1 + nccl.bias), y, 4, "none", kNccl);
    }
    if (const ErrorSummary& one = system.simulated[panel]; one.rows > 0) {
      const double x = place_of(panel, 1 + one.bias);
      svg.line(x, y - 6, x, y + 6, kSimulated, 3);
    }
  }
}

}  // namespace

std::string errors_svg(const study::Validation& validation) {
  Svg svg;
  std::vector<const SystemScore*> systems;
  for (const SystemScore& system : validation.systems) {
    if (!system.is_apart) systems.push_back(&system);
  }
  const double bottom = kHead + static_cast<double>(systems.size()) * kLine;
  const double width = left_of(kSizeClasses - 1) + kPanel + 40;
  svg.text(20, 24, "Simulated over measured time, by system", 16, "start");
  svg.text(20, 44,
           "dot: a row; bar: median of the simulated; ring: median of NCCL's own model; left is "
           "too fast",
           11, "start");
  for (std::size_t panel = 0; panel < kSizeClasses; ++panel) draw_axis(svg, panel, bottom);
  double y = kHead + kLine / 2;
  for (const SystemScore* system : systems) {
    draw_system(svg, validation, *system, y);
    y += kLine;
  }
  return svg.finish(width, bottom + 20);
}

}  // namespace ringside::cli
