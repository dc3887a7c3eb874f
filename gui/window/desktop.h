#pragma once

#include "gui/draw/frame.h"
#include "gui/window/arguments.h"

namespace ringside::gui {

/// The window, until it is closed.
/// errors  Unsupported: no display, or no OpenGL 3.3 there
Status run_window(const Arguments& arguments);

/// Opens what the arguments name, and goes where they say.
Opened open_asked(const Arguments& arguments, const OnProgress& on_progress,
                  const OnPart& on_part = {});
/// What is played: the whole, or the range that the arguments name.
TimeRange played_range(const Arguments& arguments, const Document& document);
Status go_where_asked(const Arguments& arguments, Session& session);
void show_hang(Session& session);
/// What the lesson's buttons start from; none: no lesson.
std::optional<LessonBar> lesson_bar(const Arguments& arguments);

}  // namespace ringside::gui
