#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

#include "gui/model/session/chooser.h"
#include "gui/model/session/lesson.h"
#include "gui/model/session/session.h"

namespace ringside::gui {

/// The controls of the open lesson: its name, and the numbers that the user may change.
struct LessonBar {
  std::string name;
  LessonNumbers numbers = {};
};

/// The requests of the user in one frame. The caller carries them out.
struct FrameRequests {
  bool closes = false;
  std::string lesson = {};              ///< name of a lesson to open; empty: none
  std::optional<LessonBar> again = {};  ///< the open lesson with other numbers
  std::vector<std::string> paths = {};  ///< files to open; empty: none
};

/// Draws the whole window: document, playback, view, tooltip. It only lays out widgets and passes
/// on the user's input.
class Frame {
 public:
  /// Draws one frame, between ImGui's NewFrame and Render.
  /// loading  name of the document being opened; empty: none
  /// loaded   completed share of the loading, 0 .. 1
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
  static void legend(const Session& session);

  Chooser chooser_;
  bool wants_search_ = false;
  bool is_typing_ = false;
  bool shows_open_ = false;
};

}  // namespace ringside::gui
