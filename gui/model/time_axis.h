#pragma once

#include <string>
#include <vector>

#include "gui/model/picture.h"
#include "trace/replay/event_table.h"

namespace ringside::gui {

/// Maps times to x positions of the window, and labels ticks.
struct TimeAxis {
  TimeRange visible;
  float left = 0, right = 0;
  std::int64_t origin_ns = 0;  ///< time of tick 0

  [[nodiscard]] float x_of(std::int64_t time_ns) const;
  [[nodiscard]] std::int64_t time_at(float x) const;
  [[nodiscard]] double ns_per_px() const;
};

/// A labelled time on the axis.
struct Tick {
  std::int64_t time_ns;
  std::string text;
};

/// Returns ticks at multiples of 1, 2 or 5 x 10^n ns, at least `apart` px apart, with enough digits
/// to distinguish them.
std::vector<Tick> ticks_of(const TimeAxis& axis, float apart);

/// Returns a time to the nanosecond, such as `12.345678 ms`, in the unit that fits `scale_ns`.
std::string exact_time(std::int64_t time_ns, std::int64_t scale_ns);

}  // namespace ringside::gui
