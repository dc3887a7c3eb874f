#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/append.h"
#include "cli/plots/svg.h"
#include "cli/probe/probe_report.h"

/// The matrix of pairs, for terminals and as a drawing.
namespace ringside::cli {
namespace {

using probe::PairCell;
using probe::PairMatrix;
using Figure = double PairCell::*;

struct Spread {
  double least = 0, most = 0;
  /// 0 .. 1, on a logarithmic scale: pairs within a host and between hosts can differ by a factor of a hundred.
  [[nodiscard]] double share(double value) const;
};

Spread range_of(const PairMatrix& matrix, Figure figure) {
  Spread range;
  for (const PairCell& cell : matrix.cells) {
    if (cell.from == cell.to || cell.*figure <= 0) continue;
    range.least = range.least > 0 ? std::min(range.least, cell.*figure) : cell.*figure;
    range.most = std::max(range.most, cell.*figure);
  }
  return range;
}

double Spread::share(double value) const {
  if (value <= 0 || most <= least) return 1;
  return std::clamp(std::log(value / least) / std::log(most / least), 0.0, 1.0);
}

/// Returns a colour from red over yellow to green, one of the 256 terminal colours 196 .. 46.
/// goodness  0 .. 1
int terminal_colour(double goodness) {
  constexpr int kColours[] = {196, 202, 208, 214, 220, 226, 190, 154, 118, 46};
  const auto last = static_cast<double>(std::size(kColours) - 1);
  return kColours[static_cast<std::size_t>(std::lround(goodness * last))];
}

/// Returns a shade, for output without colours.
const char* shade(double goodness) {
  constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};
  return kShades[static_cast<std::size_t>(std::lround(goodness * 4))];
}

std::string table_text(const PairMatrix& matrix, Figure figure, const char* title, bool is_low_good,
                       const ProbeStyle& style) {
  const Spread range = range_of(matrix, figure);
  // Too wide for the terminal: shades alone.
  constexpr int kHead = 9, kCell = 9;
  const bool has_numbers = kHead + kCell * matrix.nranks <= std::max(style.width, 80);
  std::string out = fmt::format("\n{}\n{:<{}}", title, "from\\to", kHead);
  for (int to = 0; to < matrix.nranks; ++to) {
    append(out, "{:>{}}", has_numbers || to % 10 == 0 ? fmt::format("{}", to) : "",
           has_numbers ? kCell : 1);
  }
  out += "\n";
  for (int from = 0; from < matrix.nranks; ++from) {
    append(out, "{:<{}}", from, kHead);
    for (int to = 0; to < matrix.nranks; ++to) {
      const PairCell& cell = matrix.at(from, to);
      if (from == to) {
        append(out, "{:>{}}", "-", has_numbers ? kCell : 1);
        continue;
      }
      const double share = range.share(cell.*figure);
      const double goodness = is_low_good ? 1 - share : share;
      std::string text = has_numbers ? fmt::format("{:>{}.2f}{}{}", cell.*figure, kCell - 2,
                                                   style.has_colour ? " " : shade(goodness),
                                                   cell.is_outlier ? "!" : " ")
                                     : (cell.is_outlier ? "!" : shade(goodness));
      if (style.has_colour)
        text = fmt::format("\x1b[38;5;{}m{}\x1b[0m", terminal_colour(goodness), text);
      out += text;
    }
    append(out, "  {}\n", matrix.hosts[static_cast<std::size_t>(from)]);
  }
  return out;
}

std::string svg_colour(double goodness) {
  // From a dark red over white to a dark green.
  const double towards = std::abs(goodness - 0.5) * 2;
  const auto mix = [&](int full) { return static_cast<int>(255 - towards * (255 - full)); };
  return goodness < 0.5 ? fmt::format("#{:02x}{:02x}{:02x}", mix(214), mix(96), mix(77))
                        : fmt::format("#{:02x}{:02x}{:02x}", mix(67), mix(147), mix(100));
}

void draw_matrix(Svg& svg, const PairMatrix& matrix, Figure figure, const char* title,
                 bool is_low_good, double left, double cell_px) {
  constexpr double kTop = 60;
  const Spread range = range_of(matrix, figure);
  svg.text(left, 24, title, 14, "start");
  for (int i = 0; i < matrix.nranks; ++i) {
    const double at = (i + 0.5) * cell_px;
    svg.text(left + at, kTop - 8, fmt::format("{}", i), 10, "middle", "#555");
    svg.text(left - 6, kTop + at + 4, fmt::format("{}", i), 10, "end", "#555");
  }
  for (const PairCell& cell : matrix.cells) {
    if (cell.from == cell.to) continue;
    const double share = range.share(cell.*figure);
    const Svg::Box box{.x = left + cell.to * cell_px,
                       .y = kTop + cell.from * cell_px,
                       .width = cell_px,
                       .height = cell_px};
    svg.box(box, svg_colour(is_low_good ? 1 - share : share), cell.is_outlier ? "#b00" : "#ddd", 0);
    constexpr double kReadable = 34;
    if (cell_px >= kReadable) {
      svg.text(box.centre(), box.y + cell_px / 2 + 4,
               fmt::format("{:.{}f}{}", cell.*figure, cell.*figure < 10 ? 2 : 0,
                           cell.is_outlier ? "!" : ""),
               11, "middle");
    }
  }
}

}  // namespace

std::string pairs_text(const PairMatrix& matrix, const ProbeStyle& style) {
  std::string out = table_text(matrix, &PairCell::latency_us,
                               "latency of 8 B, one way, us (! is far from its like)", true, style);
  out += table_text(matrix, &PairCell::gbs, "bandwidth, GB/s", false, style);
  if (matrix.is_crowded) {
    out += "\nmore ranks than cores on some host: within it, these are times of its scheduler\n";
  }
  if (!matrix.is_crowded && std::ranges::count(matrix.cores, std::optional<int>()) > 0) {
    out +=
        "\nsome ranks may run on several cores: times within a host hold those of its scheduler, "
        "too; bind them (--bind core)\n";
  }
  double expected = 0, least = 0;
  for (const PairCell& cell : matrix.cells) {
    if (cell.expected_gbs <= 0) continue;
    expected = std::max(expected, cell.expected_gbs);
    const double share = cell.gbs / cell.expected_gbs;
    least = least > 0 ? std::min(least, share) : share;
  }
  if (expected > 0) {
    append(
        out,
        "\nbetween hosts the interfaces allow {:.3f} GB/s; the worst pair reaches {:.0f} % of its "
        "own\n",
        expected, 100 * least);
  } else {
    out += "\nthe expected bandwidth is unknown: within a host, or an interface without a speed\n";
  }
  return out;
}

std::string pairs_svg(const PairMatrix& matrix) {
  Svg svg;
  constexpr double kWidest = 44, kMost = 640, kMargin = 50;
  const double cell = std::clamp(kMost / std::max(1, matrix.nranks), 4.0, kWidest);
  const double size = cell * matrix.nranks;
  const double step = std::max(size, 220.0) + kMargin * 1.5;
  draw_matrix(svg, matrix, &PairCell::gbs, "bandwidth, GB/s (row: from, column: to)", false,
              kMargin, cell);
  draw_matrix(svg, matrix, &PairCell::latency_us, "latency of 8 B, us", true, kMargin + step, cell);
  return svg.finish(kMargin + 2 * step, size + 80);
}

}  // namespace ringside::cli
