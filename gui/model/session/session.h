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

/// The open document, the user's settings, and the views: the whole window except its pixels.
///
/// Threads  one
class Session {
 public:
  explicit Session(Making making = Making::Now)
      : chunks_(making), slots_(making), numbers_(making), topology_(making) {}

  void open(std::shared_ptr<const Document> document);
  /// Replaces the first part of a document by the whole. What the user has set meanwhile stays; if that is nothing,
  /// it is like open().
  void complete(std::shared_ptr<const Document> document);
  /// Replaces the document by one with other numbers, as a lesson with more ranks: the view stays, and the moment as
  /// its share of the whole.
  void replace(std::shared_ptr<const Document> document);
  void compare_with(std::shared_ptr<const Document> other) { other_ = std::move(other); }

  [[nodiscard]] const Document* document() const { return document_.get(); }
  [[nodiscard]] const Document* other() const { return other_.get(); }
  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] const State& state() const { return state_; }
  /// Whether the user has not moved in the document yet.
  [[nodiscard]] bool is_untouched() const;

  /// The current view, for a canvas of that size. Valid until the next call.
  const Panel& prepare(const Canvas& canvas);
  const Panel& prepare(View view, const Canvas& canvas);
  /// Whether a part of the last prepared view is missing: a worker computes it (Making::InWorker).
  [[nodiscard]] bool is_preparing() const { return panel_.is_being_prepared; }

  /// The timeline, which converts a place to its time.
  [[nodiscard]] const Timeline& timeline() const { return timeline_; }

  void press(Command command);
  /// A click: on a row it folds, on an event it chooses, on the time axis it goes there.
  void click(const Target& target, std::int64_t time_ns);
  /// Describes the object under the pointer.
  [[nodiscard]] std::vector<std::string> tip(const Target& target) const;

  /// The lesson's text of the moment; empty: none.
  [[nodiscard]] std::string_view caption() const;
  /// The last error, or the result of a search: shown at the bottom; empty: nothing.
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
