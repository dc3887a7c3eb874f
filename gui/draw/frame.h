#pragma once

#include <imgui.h>

#include <optional>
#include <string>

#include "gui/model/session.h"

namespace ringside::gui {

/// A lesson that is shown, and what one may change about it.
struct LessonBar {
  std::string name;
  int ranks = 0;
  std::string bytes;
};

/// What the window wants of whoever runs it.
struct FrameWishes {
  bool closes = false;
  std::string lesson = {};              ///< one to be opened
  std::optional<LessonBar> again = {};  ///< the lesson that is shown, with other numbers
};

/// The whole window: what is open, how time goes, the view, what is below the pointer. Lays out, and hands on what was
/// pressed; it decides nothing.
class Frame {
 public:
  /// One frame, between ImGui's NewFrame and Render. loading  what is being opened, and how far it is; empty: nothing
  FrameWishes draw(Session& session, const std::string& loading, double loaded,
                   const std::optional<LessonBar>& lesson, float scale);

 private:
  bool keys(Session& session);  ///< whether to close
  void bar(Session& session);
  void lessons(Session& session, const std::optional<LessonBar>& lesson, FrameWishes& wishes);
  void tabs(Session& session);
  void view(Session& session);
  void pointer(Session& session, const Panel& panel, ImVec2 origin, ImVec2 size);
  void status(Session& session);
  static void help(Session& session, float scale);
  static void legend(bool is_dark);

  bool wants_search_ = false;
  bool is_typing_ = false;
};

}  // namespace ringside::gui
