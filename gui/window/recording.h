#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace ringside::gui {

/// A film of the window: where it goes, how large it is, how long it takes.
struct Recording {
  std::string path;  ///< the extension decides on the format: .webm, .mp4, .gif
  int width = 0, height = 0;
  float scale = 1;
  double seconds = 10;  ///< length
};

/// Draws a film without a display, and encodes it with ffmpeg. The process ignores SIGPIPE from then on.
///
/// draw    called between ImGui's NewFrame and Render, with the elapsed share of the film: 0 .. 1
/// errors  as Headless::make(); Unsupported: ffmpeg is missing; InvalidArgument: unknown extension;
///         System: ffmpeg failed
Status write_recording(const Recording& recording, const std::function<void(double share)>& draw);

}  // namespace ringside::gui
