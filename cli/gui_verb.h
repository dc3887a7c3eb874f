#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"

namespace ringside::cli {

inline constexpr const char* kGuiVerb = "gui";

/// For the list of verbs. Its words are another program's: start_gui() takes them as they are, --help among them.
Verb gui_verb();

/// Becomes ringside-gui.
/// errors  Unsupported: it is not there, with where it was looked for
VerbResult start_gui(const std::vector<std::string>& words);

}  // namespace ringside::cli
