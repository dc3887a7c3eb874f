#include "gui/model/time_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ringside::gui {
namespace {

struct Unit {
  std::int64_t ns;
  const char* name;
};
constexpr std::array<Unit, 4> kUnits{
    {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1000, "us"}, {1, "ns"}}};

const Unit& unit_for(std::int64_t scale_ns) {
  for (const Unit& unit : kUnits) {
    if (scale_ns >= unit.ns) return unit;
  }
  return kUnits.back();
}

/// 1, 2 or 5 x 10^n, the least that is not below `least`.
std::int64_t round_step(double least) {
  std::int64_t step = 1;
  while (static_cast<double>(step) * 10 <= least) step *= 10;
  for (const std::int64_t times : {1, 2, 5}) {
    if (static_cast<double>(step * times) >= least) return step * times;
  }
  return step * 10;
}

}  // namespace

double TimeAxis::ns_per_px() const {
  return static_cast<double>(visible.end_ns - visible.begin_ns) /
         static_cast<double>(std::max(right - left, 1.0F));
}

float TimeAxis::x_of(std::int64_t time_ns) const {
  const double ns = static_cast<double>(time_ns - visible.begin_ns);
  return left + static_cast<float>(ns / ns_per_px());
}

std::int64_t TimeAxis::time_at(float x) const {
  return visible.begin_ns + std::llround(static_cast<double>(x - left) * ns_per_px());
}

std::string exact_time(std::int64_t time_ns, std::int64_t scale_ns) {
  const Unit& unit = unit_for(std::max<std::int64_t>(scale_ns, 1));
  int digits = 0;
  for (std::int64_t below = unit.ns; below > 1; below /= 10) ++digits;
  std::string text =
      fmt::format("{:.{}f}", static_cast<double>(time_ns) / static_cast<double>(unit.ns), digits);
  if (digits > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return fmt::format("{} {}", text, unit.name);
}

std::vector<Tick> ticks_of(const TimeAxis& axis, float apart) {
  std::vector<Tick> ticks;
  const std::int64_t step =
      round_step(std::max(1.0, axis.ns_per_px() * static_cast<double>(apart)));
  const std::int64_t begin = axis.visible.begin_ns - axis.origin_ns;
  const std::int64_t end = axis.visible.end_ns - axis.origin_ns;
  std::int64_t at = begin / step * step;
  if (at < begin) at += step;
  const std::int64_t farthest = std::max(std::abs(begin), std::abs(end));
  const std::int64_t scale = farthest / 10'000 >= step ? farthest : step * 5;
  constexpr std::size_t kMost = 200;
  for (; at < end && ticks.size() < kMost; at += step) {
    ticks.push_back({axis.origin_ns + at, exact_time(at, scale)});
  }
  return ticks;
}

}  // namespace ringside::gui
