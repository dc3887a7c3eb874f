#include "gui/window/settings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/json.h"

namespace ringside::gui {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMostFiles = 20;
constexpr std::size_t kMostBookmarks = 100;

Settings::File file_of(const Json& entry) {
  Settings::File file;
  file.path = entry.value("path", "");
  file.view = entry.value("view", "timeline");
  file.now_ns = entry.value("now_ns", std::int64_t{0});
  file.visible = {entry.value("from_ns", std::int64_t{0}), entry.value("to_ns", std::int64_t{0})};
  for (const Json& bookmark : entry.value("bookmarks", Json::array())) {
    if (bookmark.is_number_integer() && file.bookmarks.size() < kMostBookmarks) {
      file.bookmarks.push_back(bookmark.get<std::int64_t>());
    }
  }
  std::ranges::sort(file.bookmarks);
  return file;
}

}  // namespace

void Settings::remember(const std::string& path, const State& state) {
  is_dark = state.is_dark;
  std::erase_if(files, [&](const File& file) { return file.path == path; });
  files.insert(files.begin(),
               {path, to_string(state.view), state.now_ns, state.visible, state.bookmarks});
  if (files.size() > kMostFiles) files.resize(kMostFiles);
}

void Settings::restore(const std::string& path, const Document& document, State& state) const {
  const auto found = std::ranges::find(files, path, &File::path);
  if (found == files.end()) return;
  const TimeRange whole = document.whole();
  if (const auto view = parse_view(found->view)) state.view = *view;
  state.now_ns = std::clamp(found->now_ns, whole.begin_ns, whole.end_ns);
  // The file may have been replaced since.
  const bool is_within = found->visible.begin_ns < found->visible.end_ns &&
                         found->visible.begin_ns < whole.end_ns &&
                         found->visible.end_ns > whole.begin_ns;
  constexpr std::int64_t kFar = std::int64_t{1} << 61;
  if (is_within && found->visible.begin_ns > -kFar && found->visible.end_ns < kFar) {
    show_range(state, document, found->visible);
  }
  for (const std::int64_t bookmark : found->bookmarks) {
    if (bookmark >= whole.begin_ns && bookmark <= whole.end_ns) state.bookmarks.push_back(bookmark);
  }
}

std::string settings_path() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  const fs::path state = variable("XDG_STATE_HOME");
  if (state.is_absolute()) return state / "ringside" / "gui.json";
  const fs::path home = variable("HOME");
  return home.is_absolute() ? (home / ".local" / "state" / "ringside" / "gui.json").string()
                            : std::string();
}

Settings parse_settings(const std::string& text) {
  Settings settings;
  try {
    const Json document = Json::parse(text);
    settings.is_dark = document.value("dark", true);
    settings.width = std::clamp(document.value("width", 1400), 320, 8192);
    settings.height = std::clamp(document.value("height", 900), 240, 8192);
    for (const Json& entry : document.value("files", Json::array())) {
      if (settings.files.size() < kMostFiles) settings.files.push_back(file_of(entry));
    }
  } catch (const Json::exception&) {
    return {};
  }
  return settings;
}

Settings load_settings(const std::string& path) {
  if (path.empty()) return {};
  const auto text = read_file(path);
  return text ? parse_settings(*text) : Settings{};
}

void save_settings(const Settings& settings, const std::string& path) {
  if (path.empty()) return;
  Json files = Json::array();
  for (const Settings::File& file : settings.files) {
    files.push_back({{"path", file.path},
                     {"view", file.view},
                     {"now_ns", file.now_ns},
                     {"from_ns", file.visible.begin_ns},
                     {"to_ns", file.visible.end_ns},
                     {"bookmarks", file.bookmarks}});
  }
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  const Json document{{"dark", settings.is_dark},
                      {"width", settings.width},
                      {"height", settings.height},
                      {"files", files}};
  std::ofstream(path) << ringside::to_text(document);
}

}  // namespace ringside::gui
