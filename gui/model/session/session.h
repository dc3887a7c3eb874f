#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/connection.h"
#include "gui/model/document.h"
#include "gui/model/session/commands.h"
#include "gui/model/state.h"
#include "gui/model/views/chunks.h"
#include "gui/model/views/numbers.h"
#include "gui/model/views/timeline.h"
#include "gui/model/views/topology_view.h"

namespace ringside::gui {

/// The open document, the user's settings, and the views: the state and logic of the window,
/// without drawing.
///
/// Threads  one
class Session {
 public:
  explicit Session(Making making = Making::Now)
      : chunks_(making), slots_(making), numbers_(making), topology_(making) {}

  void open(std::shared_ptr<const Document> document);
  /// Replaces the first part of a document by the whole document. Keeps the user's changes; if
  /// there are none, it acts like open().
  void complete(std::shared_ptr<const Document> document);
  /// Replaces the document by a variant with other numbers, such as a lesson with more ranks. Keeps
  /// the view, and the current time as a share of the whole.
  void replace(std::shared_ptr<const Document> document);
  void compare_with(std::shared_ptr<const Document> other) { other_ = std::move(other); }

  [[nodiscard]] const Document* document() const { return document_.get(); }
  [[nodiscard]] const Document* other() const { return other_.get(); }
  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] const State& state() const { return state_; }
  /// Returns true if the user has not moved in the document yet.
  [[nodiscard]] bool is_untouched() const;

  /// Prepares a view (default: the current one) for a canvas. The result is valid until the next
  /// call.
  const Panel& prepare(const Canvas& canvas);
  const Panel& prepare(View view, const Canvas& canvas);
  /// Returns true if a worker still computes a part of the last prepared view (Making::InWorker).
  [[nodiscard]] bool is_preparing() const { return panel_.is_being_prepared; }

  /// Returns the timeline, which converts positions to times.
  [[nodiscard]] const Timeline& timeline() const { return timeline_; }

  void press(Command command);
  /// Scrolls the timeline to the group of the current call, if its rows are far below.
  void show_current_call();
  /// Handles a click: it folds a row, selects an event, or moves the current time on the time axis.
  void click(const Target& target, std::int64_t time_ns);
  /// Returns lines about the object under the pointer.
  [[nodiscard]] std::vector<std::string> tip(const Target& target);

  /// Returns the lesson's text for the current time; empty: none.
  [[nodiscard]] std::string_view caption() const;
  /// The last error or search result, shown at the bottom; empty: none.
  std::string message;

 private:
  void show(std::shared_ptr<const Document> document);
  enum class Search { Next, Last, Longest };
  void search(Search what);
  void fit_chosen();
  void next_bookmark();
  void turn_channel(int by);
  void fold_all();
  void go_to_rank(std::int32_t rank);
  void scroll_to(EventId event);
  [[nodiscard]] std::vector<std::string> tip_of_row(std::uint32_t number) const;

  std::shared_ptr<const Document> document_;
  std::shared_ptr<const Document> other_;
  State state_;
  Timeline timeline_;
  Chunks chunks_;
  Slots slots_;
  Numbers numbers_;
  TopologyView topology_;
  Panel panel_;
};

}  // namespace ringside::gui
