#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "base/text.h"
#include "cli/plots/svg.h"
#include "cli/sim/sim_profile.h"

namespace ringside::cli {
namespace {

using study::LinkUsage;
using study::Profile;

constexpr double kLeft = 310, kStrip = 640, kRight = 70, kTop = 62;
constexpr double kWidth = kLeft + kStrip + kRight;
constexpr double kRow = 26, kBar = 18;
constexpr std::size_t kMostKinds = 24;

/// Colours that readers with colour deficiencies can distinguish (Okabe and Ito); repeated from the first if there
/// are more.
constexpr std::array kColours{"#0072B2", "#E69F00", "#009E73", "#D55E00",
                              "#CC79A7", "#56B4E9", "#777777", "#000000"};

/// Returns a colour between white for 0 and dark blue for 1.
std::string shade(double use) {
  const auto mix = [use](int full) {
    return static_cast<int>(std::lround(255 + (full - 255) * std::clamp(use, 0.0, 1.0)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(69), mix(122));
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 46;
  return text.size() <= kMost ? text : text.substr(0, kMost - 3) + "...";
}

class Drawing {
 public:
  explicit Drawing(const Profile& profile) : profile_(profile), time_(profile.row.result.time) {}

  std::string run(const std::string& title) {
    svg_.text(20, 28, title, 16, "start");
    double y = draw_links(kTop);
    if (profile_.no_path.empty()) {
      y = draw_path(y + 14);
    } else {
      svg_.text(20, y + 22, "no critical path: " + profile_.no_path, 12, "start");
      y += 30;
    }
    return svg_.finish(kWidth, y + 16);
  }

 private:
  [[nodiscard]] double at(Seconds time) const { return kLeft + kStrip * (time / time_); }

  double draw_links(double y) {
    svg_.text(20, y - 8, "links, the busiest of each kind", 12, "start");
    svg_.text(kWidth - 8, y - 8, "busy", 11, "end");
    const std::size_t shown = std::min(kMostKinds, profile_.links.size());
    for (std::size_t i = 0; i < shown; ++i) {
      draw_link(profile_.links[i], y);
      y += kRow;
    }
    draw_axis(y);
    return y + 24;
  }

  void draw_link(const LinkUsage& link, double y) {
    svg_.text(kLeft - 8, y + 13, shortened(link.kind), 11, "end");
    for (std::size_t i = 0; i < link.over_time.size(); ++i) {
      const double x = at(profile_.span * static_cast<double>(i));
      const double end = std::min(kLeft + kStrip, at(profile_.span * static_cast<double>(i + 1)));
      // A little wider: no white lines between neighbours.
      if (x < end) svg_.box({x, y, end - x + 0.3, kBar}, shade(link.over_time[i]), "none", 0);
    }
    // The times of its load are unknown: the colour shows its mean utilisation.
    if (link.over_time.empty()) svg_.box({kLeft, y, kStrip, kBar}, shade(link.share), "none", 0);
    svg_.box({kLeft, y, kStrip, kBar}, "none", "#999", 0);
    svg_.text(kWidth - 8, y + 13, fmt::format("{:.0f} %", 100 * link.share), 11, "end");
  }

  /// Ticks at 1, 2 or 5 times a power of ten.
  void draw_axis(double y) {
    const double rough = time_.count() / 8;
    const double decade = std::pow(10, std::floor(std::log10(rough)));
    const double digit = rough / decade;
    const double step = decade * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
    for (double time = 0; time <= time_.count(); time += step) {
      const double x = at(Seconds{time});
      svg_.line(x, y, x, y + 5, "#555", 1);
      svg_.text(x, y + 17, format_time(Seconds{time}), 10, "middle");
    }
    svg_.line(kLeft, y, kLeft + kStrip, y, "#555", 1);
  }

  [[nodiscard]] const char* colour_of(const std::string& what) const {
    const auto found = std::ranges::find(profile_.terms, what, &study::TimeTerm::what);
    return kColours[static_cast<std::size_t>(found - profile_.terms.begin()) % kColours.size()];
  }

  double draw_path(double y) {
    svg_.text(kLeft - 8, y + 13, "critical path", 11, "end");
    // A part that is too short to be seen is drawn with its neighbour.
    const Seconds least = time_ / kStrip;
    Seconds drawn{};
    for (const study::Stretch& one : profile_.stretches) {
      if (one.end - drawn < least / 2) continue;
      svg_.box({at(drawn), y, at(one.end) - at(drawn) + 0.3, kBar}, colour_of(one.what), "none", 0);
      drawn = one.end;
    }
    svg_.box({kLeft, y, kStrip, kBar}, "none", "#999", 0);
    y += kRow + 8;
    for (const study::TimeTerm& term : profile_.terms) {
      svg_.box({kLeft, y - 10, 12, 12}, colour_of(term.what), "none", 0);
      svg_.text(kLeft + 20, y, term.what, 12, "start");
      svg_.text(kLeft + kStrip, y,
                fmt::format("{}, {:.1f} %", format_time(term.time), 100 * (term.time / time_)), 12,
                "end");
      y += 18;
    }
    return y;
  }

  const Profile& profile_;
  const Seconds time_;
  Svg svg_;
};

}  // namespace

std::string profile_svg(const std::string& title, const Profile& profile) {
  return Drawing(profile).run(title);
}

}  // namespace ringside::cli
