#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace ringside::gui {

struct Recording {
  std::string path;  ///< its extension gives the format: .webm, .mp4, .gif
  int width = 0, height = 0;
  float scale = 1;
  double seconds = 10;  ///< its length
};

/// A film, drawn without a display and encoded by ffmpeg.
///
/// draw    called between ImGui's NewFrame and Render, with the share of the film that has passed: 0 .. 1
/// errors  as Headless::make(); Unsupported: no ffmpeg; InvalidArgument: another ending; System: ffmpeg gave up
Status write_recording(const Recording& recording, const std::function<void(double share)>& draw);

}  // namespace ringside::gui
