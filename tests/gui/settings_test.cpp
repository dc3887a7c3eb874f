#include "gui/window/settings.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

TEST(Settings, RestoresAFilesLastView) {
  const auto document = late_document();
  State state = first_state(*document);
  state.view = View::Slots;
  state.now_ns = 42'000;
  state.bookmarks = {1'000, 90'000};
  zoom(state, *document, 0.1, 42'000);
  Settings settings;
  settings.remember("/a.rtrace", state);
  const TemporaryPath path("settings.json");
  save_settings(settings, path.text());
  State again = first_state(*document);
  load_settings(path.text()).restore("/a.rtrace", *document, again);
  EXPECT_EQ(again.view, View::Slots);
  EXPECT_EQ(again.now_ns, 42'000);
  EXPECT_EQ(again.bookmarks, state.bookmarks);
  EXPECT_EQ(again.visible.begin_ns, state.visible.begin_ns);
}

TEST(Settings, IgnoresDamagedEntries) {
  for (const char* const text :
       {"", "{", "[]", "{\"files\": 3}", "{\"dark\": \"yes\"}", "{\"files\": [{\"path\": 1}]}",
        "{\"width\": -5, \"files\": [{\"bookmarks\": [\"x\"]}]}"}) {
    const Settings settings = parse_settings(text);
    EXPECT_GE(settings.width, 320) << text;
    const auto document = late_document();
    State state = first_state(*document);
    settings.restore("", *document, state);
    EXPECT_LT(state.visible.begin_ns, state.visible.end_ns);
  }
}

TEST(Settings, KeepsAtMostTwentyFiles) {
  Settings settings;
  for (int i = 0; i < 30; ++i) settings.remember(std::to_string(i), State{});
  EXPECT_EQ(settings.files.size(), 20U);
  EXPECT_EQ(settings.files.front().path, "29");
}

}  // namespace
}  // namespace ringside::gui
