#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gui/model/session/open.h"

namespace ringside::gui {

/// The checked command line of ringside-gui.
struct Arguments {
  std::vector<std::string> paths;
  std::string cluster;  ///< of logs: what their hosts are
  std::string second;   ///< a second trace to compare with
  std::optional<study::SimQuestion> simulation = {};
  std::string lesson;
  LessonNumbers numbers = {};  ///< of the lesson
  std::string screenshot;
  std::string record;
  double seconds = 10;                 ///< the length of the recording
  std::optional<Seconds> at = {};      ///< from the beginning of the trace
  std::optional<int> at_percent = {};  ///< of the trace
  std::optional<View> view = {};
  std::optional<std::pair<Seconds, Seconds>> range = {};
  std::string choose;  ///< a search whose first hit is chosen
  int width = 1400, height = 900;
  double scale = 1;
  bool is_light = false;
  bool prints = false;  ///< the view as text, and no window
};

/// `status` is set if the words requested help, or were wrong.
struct ParsedArguments {
  Arguments arguments;
  std::optional<int> status = {};
};

ParsedArguments parse_arguments(int argc, char** argv);

}  // namespace ringside::gui
