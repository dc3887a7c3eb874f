#include "gui/model/session/commands.h"

#include <gtest/gtest.h>

#include <set>

#include "gui/model/session/session.h"
#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

TEST(Commands, EachHasOneRowAndEachKeyOneCommand) {
  std::set<std::string_view> keys;
  std::set<Command> named;
  for (const CommandRow& row : commands()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_TRUE(named.insert(row.command).second) << row.what;
  }
  EXPECT_EQ(named.size(), static_cast<std::size_t>(Command::View7) + 1);
}

TEST(Commands, AllCanBePressedInAnyViewOfAnyTrace) {
  std::mt19937 random(7);
  for (const bool is_empty : {true, false}) {
    Session session;
    session.open(
        document_of(is_empty ? std::vector<TraceEvent>() : random_events(random, 300, {})));
    for (int round = 0; round < 3; ++round) {
      for (const CommandRow& row : commands()) {
        session.press(row.command);
        session.prepare({.width = 700, .height = 400});
        const TimeRange visible = session.state().visible;
        ASSERT_LT(visible.begin_ns, visible.end_ns) << row.what;
      }
    }
  }
}

TEST(Commands, PlayRestartsAtTheEnd) {
  Session session;
  session.open(late_document());
  session.press(Command::ToEnd);
  session.press(Command::Play);
  EXPECT_EQ(session.state().now_ns, 0);
  EXPECT_TRUE(session.state().is_playing);
}

TEST(Commands, FoldAllTurnsEveryRank) {
  Session session;
  session.open(late_document());
  session.prepare({.width = 700, .height = 400});
  ASSERT_EQ(session.timeline().rows().rows().size(), 4U);  // 2 ranks with a channel each
  session.press(Command::FoldAll);
  session.prepare({.width = 700, .height = 400});
  EXPECT_EQ(session.timeline().rows().rows().size(), 2U);
  session.press(Command::FoldAll);
  session.prepare({.width = 700, .height = 400});
  EXPECT_EQ(session.timeline().rows().rows().size(), 4U);
}

}  // namespace
}  // namespace ringside::gui
