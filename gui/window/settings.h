#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/model/state.h"

namespace ringside::gui {

/// Settings kept between sessions: the look of the window, and the positions in recently shown
/// files.
struct Settings {
  struct File {
    std::string path;
    std::string view;
    std::int64_t now_ns = 0;
    TimeRange visible;
    std::vector<std::int64_t> bookmarks;
  };
  bool is_dark = true;
  int width = 1400, height = 900;
  std::vector<File> files;  ///< most recent first

  /// Keeps the position in a file, and forgets all but the 20 newest.
  void remember(const std::string& path, const State& state);
  /// Goes to the remembered position, as far as it is within the document.
  void restore(const std::string& path, const Document& document, State& state) const;
};

/// Returns $XDG_STATE_HOME/ringside/gui.json, else ~/.local/state/ringside/gui.json; empty: no
/// place to keep settings.
std::string settings_path();

/// Loads the settings. Returns defaults if the file is missing or unreadable.
Settings load_settings(const std::string& path);
/// Returns defaults if the text is not what save_settings() writes.
Settings parse_settings(const std::string& text);
/// Writes the settings. Failing is not reported: the next session then begins with the older ones.
void save_settings(const Settings& settings, const std::string& path);

}  // namespace ringside::gui
