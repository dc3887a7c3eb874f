#pragma once

#include <string>
#include <vector>

#include "gui/model/picture.h"
#include "trace/replay/event_table.h"

namespace ringside::gui {

/// Converts times to positions on a strip of the window, and labels its ticks.
struct TimeAxis {
  TimeRange visible;
  float left = 0, right = 0;
  std::int64_t origin_ns = 0;  ///< that ticks are counted from

  [[nodiscard]] float x_of(std::int64_t time_ns) const;
  [[nodiscard]] std::int64_t time_at(float x) const;
  [[nodiscard]] double ns_per_px() const;
};

struct Tick {
  std::int64_t time_ns;
  std::string text;
};

/// Ticks at steps of 1, 2 or 5 x 10^n, no closer than `apart` px; with enough digits to distinguish them.
std::vector<Tick> ticks_of(const TimeAxis& axis, float apart);

/// `12.345678 ms`: a moment to the nanosecond, in the unit that suits `scale_ns`.
std::string exact_time(std::int64_t time_ns, std::int64_t scale_ns);

}  // namespace ringside::gui
