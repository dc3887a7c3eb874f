#pragma once

#include <string>
#include <vector>

#include "gui/model/picture.h"
#include "trace/replay/event_table.h"

namespace ringside::gui {

/// Where moments lie on a strip of the window, and what its ticks are called.
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

/// At steps of 1, 2 or 5 x 10^n, no closer than `apart` px; with as many digits as tell them apart.
std::vector<Tick> ticks_of(const TimeAxis& axis, float apart);

/// `12.345678 ms`: a moment to the nanosecond, in the unit that suits `scale_ns`.
std::string exact_time(std::int64_t time_ns, std::int64_t scale_ns);

}  // namespace ringside::gui
