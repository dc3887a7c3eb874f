#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/model/state.h"

namespace ringside::gui {

/// The settings kept between sessions: the window's look, and the position in the files shown last.
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
  std::vector<File> files;  ///< the last one first

  void remember(const std::string& path, const State& state);
  void restore(const std::string& path, const Document& document, State& state) const;
};

/// $XDG_STATE_HOME/ringside/gui.json, else ~/.local/state/ringside/gui.json; empty: nowhere.
std::string settings_path();

/// An unreadable file counts as missing: it is not worth an error.
Settings load_settings(const std::string& path);
Settings parse_settings(const std::string& text);
void save_settings(const Settings& settings, const std::string& path);

}  // namespace ringside::gui
