#include <gtest/gtest.h>

#include "tests/fuzz/vouched.h"
#include "tests/gui/any_trace.h"
#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

/// A trace with changed bytes and matching checksums must give a message or a usable window. The fuzz target
/// gui_replay continues from here.
TEST(HostileTrace, IsRefusedOrShown) {
  std::mt19937 random(17);
  const std::vector<TraceEvent> events = random_events(random, 120, {.ranks = 5});
  FileBytes whole = file_header();
  append_bytes(whole, events_block(events));
  int shown = 0;
  for (int trial = 0; trial < 150; ++trial) {
    FileBytes bytes = whole;
    const auto changes = 1 + random() % 12;
    for (unsigned i = 0; i < changes; ++i)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    fix_checksums(bytes);
    auto file = TraceFile::parse(bytes, "hostile");
    if (!file) continue;
    auto replay = Replay::make(std::move(*file));
    if (!replay) continue;
    show_all(std::move(*replay));
    ++shown;
  }
  EXPECT_GT(shown, 50);
}

TEST(HostileTrace, TimesAtTheFarEndsAreShown) {
  std::vector<TraceEvent> events = late_all_reduce();
  events[0].begin_ns = -(std::int64_t{1} << 62);
  events[1].end_ns = (std::int64_t{1} << 62) - 1;
  events[4].rank = INT32_MAX;
  events[5].offset = UINT64_MAX;
  events[6].bytes = UINT64_MAX;
  Opened one = opened(events);
  ASSERT_TRUE(one.replay);
  show_all(std::move(*one.replay));
}

TEST(HostileTrace, ATornOneIsShownUpToItsEnd) {
  FileBytes whole = file_header();
  append_bytes(whole, events_block(late_all_reduce()));
  for (std::size_t size = 16; size < whole.size(); size += 37) {
    const FileBytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    auto replay = Replay::make(*TraceFile::parse(bytes, "torn"));
    ASSERT_TRUE(replay);
    show_all(std::move(*replay));
  }
}

}  // namespace
}  // namespace ringside::gui
