#pragma once

#include "gui/draw/frame.h"
#include "gui/window/arguments.h"

namespace ringside::gui {

/// The window, until it is closed.
/// errors  Unsupported: no display, or no OpenGL 3.3 there
Status run_window(const Arguments& arguments);

/// Opens the documents that the arguments name, and goes to the given position.
Opened open_asked(const Arguments& arguments, const OnProgress& on_progress,
                  const OnPart& on_part = {});
/// The range that is played: the whole, or the range of the arguments.
TimeRange played_range(const Arguments& arguments, const Document& document);
Status go_where_asked(const Arguments& arguments, Session& session);
void show_hang(Session& session);
/// The initial state of the lesson's buttons; none: no lesson.
std::optional<LessonBar> lesson_bar(const Arguments& arguments);

}  // namespace ringside::gui
