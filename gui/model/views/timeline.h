#pragma once

#include <vector>

#include "gui/model/time_axis.h"
#include "gui/model/views/rows.h"

namespace ringside::gui {

/// The view of lanes over time. Events that are too narrow to distinguish are folded; wide events
/// have boxes of their own.
///
/// takes    O(visible rows x pixels), whatever the number of events
/// Threads  one; it reuses its buffers in each frame
class Timeline {
 public:
  void prepare(const Document& document, const State& state, const Canvas& canvas, Panel& into);

  [[nodiscard]] const TimeAxis& axis() const { return axis_; }
  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] float row_height() const { return row_height_; }
  /// Upper edge of the rows; the time axis is above.
  [[nodiscard]] float top() const { return top_; }
  /// Returns the largest useful scroll position, px.
  [[nodiscard]] float most_scroll() const;

 private:
  class Frame;
  Rows rows_;
  TimeAxis axis_;
  float row_height_ = 20;
  float top_ = 0;
  float height_ = 0;
  std::vector<Fold> folds_;
  std::vector<EventId> partners_;
  struct Share {
    float busy = 0;
    std::uint32_t primitives = 0;
  };
  std::vector<Share> shares_;
  std::vector<EventId> shown_;    ///< events with boxes of their own
  std::vector<EventId> flowing_;  ///< primitives of folded rows at the current time
};

}  // namespace ringside::gui
