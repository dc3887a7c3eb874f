#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/command_text.h"
#include "base/result.h"
#include "gui/model/session/open.h"

namespace ringside::gui {

/// The checked command line of ringside-gui.
struct Arguments {
  std::vector<std::string> paths;
  std::string cluster;  ///< hosts of the logs, in the form of --on
  std::string second;   ///< path of a second trace to compare with
  std::optional<study::SimQuestion> simulation = {};
  std::string lesson;
  LessonNumbers numbers = {};  ///< numbers of the lesson
  std::string screenshot;
  std::string record;
  double seconds = 10;                 ///< length of the recording
  std::optional<Seconds> at = {};      ///< time from the beginning of the trace
  std::optional<int> at_percent = {};  ///< time in % of the trace
  std::optional<View> view = {};
  std::optional<std::pair<Seconds, Seconds>> range = {};
  std::string choose;  ///< search text; its first hit is selected
  int width = 1400, height = 900;
  double scale = 1;
  bool is_light = false;
  bool prints = false;  ///< print the view as text, without a window
};

/// The result of parsing. `status` is set if help was requested or the arguments are invalid: exit
/// with it.
struct ParsedArguments {
  Arguments arguments;
  std::optional<int> status = {};
};

ParsedArguments parse_arguments(int argc, char** argv);

/// Returns the options, for the manual page and completions of `ringside gui`.
CommandText arguments_text();

}  // namespace ringside::gui
