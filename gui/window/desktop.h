#pragma once

#include "gui/draw/frame.h"
#include "gui/window/arguments.h"

namespace ringside::gui {

/// Runs the window until the user closes it.
/// errors  Unsupported: no display, or no OpenGL 3.3 there
Status run_window(const Arguments& arguments);

/// Opens the documents that the arguments name.
Opened open_asked(const Arguments& arguments, const OnProgress& on_progress,
                  const OnPart& on_part = {});
/// Returns the range to play: that of the arguments, or else the whole document.
TimeRange played_range(const Arguments& arguments, const Document& document);
/// Moves the session to the time, lesson or event that the arguments name.
/// errors  InvalidArgument: the lesson or the event does not exist
Status go_where_asked(const Arguments& arguments, Session& session);
/// Opens a hung job at its end with its findings, and so a document without calls that has findings.
/// shape  the session has a document
void show_hang(Session& session);
/// Returns the initial state of the lesson's controls; none: no lesson, or an unknown one.
std::optional<LessonBar> lesson_bar(const Arguments& arguments);

}  // namespace ringside::gui
