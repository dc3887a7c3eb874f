#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

#include "gui/model/session/chooser.h"
#include "gui/model/session/lesson.h"
#include "gui/model/session/session.h"

namespace ringside::gui {

/// The lesson that is shown, and the numbers that the user may change.
struct LessonBar {
  std::string name;
  LessonNumbers numbers = {};
};

/// What the user requested in this frame, for the caller to do.
struct FrameRequests {
  bool closes = false;
  std::string lesson = {};              ///< one to be opened
  std::optional<LessonBar> again = {};  ///< the lesson that is shown, with other numbers
  std::vector<std::string> paths = {};  ///< files to be opened
};

/// The whole window: the document, playback, the view, the tooltip. Lays out, and passes on the pressed buttons; it
/// decides nothing.
class Frame {
 public:
  /// Draws one frame, between ImGui's NewFrame and Render. loading  what is being opened, and its progress; empty:
  /// nothing
  FrameRequests draw(Session& session, const std::string& loading, double loaded,
                     const std::optional<LessonBar>& lesson, float scale);

 private:
  void keys(Session& session, const std::optional<LessonBar>& lesson, FrameRequests& requests);
  void bar(Session& session);
  void welcome(Session& session, bool is_loading, FrameRequests& requests);
  static void lesson_row(const LessonBar& lesson, FrameRequests& requests);
  static void caption(const Session& session);
  void chooser(FrameRequests& requests, bool is_dark);
  void open_dialog(Session& session, FrameRequests& requests, float scale);
  void tabs(Session& session);
  void view(Session& session);
  void pointer(Session& session, const Panel& panel, ImVec2 origin, ImVec2 size);
  static void scrubber(Session& session);
  void status(Session& session);
  static void help(Session& session, float scale);
  static void legend(View view, bool is_dark);

  Chooser chooser_;
  bool wants_search_ = false;
  bool is_typing_ = false;
  bool shows_open_ = false;
};

}  // namespace ringside::gui
