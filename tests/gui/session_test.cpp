#include "gui/model/session/session.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

// 100 steps, of which the first 10 were shown until all were there.
TEST(Session, KeepsTheSelectionWhenTheRestOfTheFileIsLoaded) {
  Session session;
  session.open(document_of(regular_events(2, 1, 10)));
  session.state().view = View::Chunks;
  session.press(Command::FitChosen);
  session.state().now_ns = 4'500;
  const TimeRange visible = session.state().visible;
  session.complete(document_of(regular_events(2, 1, 100)));
  EXPECT_EQ(session.document()->whole().end_ns, 99'900);
  EXPECT_EQ(session.state().now_ns, 4'500);
  EXPECT_EQ(session.state().visible.end_ns, visible.end_ns);
  EXPECT_EQ(session.state().view, View::Chunks);
}

TEST(Session, AnUntouchedDocumentIsShownAsAWhole) {
  Session session;
  session.open(document_of(regular_events(2, 1, 10)));
  EXPECT_TRUE(session.is_untouched());
  session.complete(document_of(regular_events(2, 1, 100)));
  EXPECT_GE(session.state().visible.end_ns, 99'900);
}

TEST(Session, TipsNameWhatIsUnderThePointer) {
  Session session;
  session.open(late_document());
  session.state().now_ns = 60'000;
  const auto has_tip = [&](View view, std::string_view text) {
    const Panel panel = session.prepare(view, {.width = 900, .height = 500});
    std::vector<Target> targets;
    for (const Spot& spot : panel.picture.spots) targets.push_back(spot.target);
    for (const Stroke& stroke : panel.picture.strokes) targets.push_back(stroke.target);
    return std::ranges::any_of(targets, [&](const Target& target) {
      return std::ranges::any_of(session.tip(target), [&](const std::string& line) {
        return line.find(text) != std::string::npos;
      });
    });
  };
  EXPECT_TRUE(has_tip(View::Timeline, "rank 1: channel 0"));
  EXPECT_TRUE(has_tip(View::Timeline, "recv_reduce_copy_send"));
  EXPECT_TRUE(has_tip(View::Topology, "rank 0 -> rank 1: "));
  EXPECT_TRUE(has_tip(View::Chunks, "rank 0, chunk 0: input of "));
  EXPECT_TRUE(has_tip(View::Slots, "slot 7 is free"));
}

TEST(Session, AStrokeIsFoundNearItsLine) {
  Panel panel;
  panel.picture.strokes.push_back(
      {.x0 = 0, .y0 = 0, .x1 = 100, .y1 = 100, .width = 2, .target = panel.add_tip("link")});
  EXPECT_EQ(target_at(panel.picture, 52, 50).kind, Target::Kind::Tip);
  EXPECT_EQ(target_at(panel.picture, 70, 50).kind, Target::Kind::None);
  EXPECT_EQ(target_at(panel.picture, 110, 110).kind, Target::Kind::None);
}

// Two calls of a rank, 0 .. 10 us and 50 .. 90 us: the second one runs in the middle of the whole.
TEST(Session, AStillShowsTheMiddleOfACall) {
  std::vector<TraceEvent> events(2);
  for (TraceEvent& event : events) event.kind = EventKind::Collective;
  events[0].end_ns = 10'000;
  events[1].begin_ns = 40'000;
  events[1].end_ns = 90'000;
  events[1].sequence = 1;
  EXPECT_EQ(moment_of_still(*document_of(events)), 65'000);
  EXPECT_EQ(moment_of_still(*document_of({})), 0);
}

// The lesson is loaded again with other numbers: half of one is half of the other.
TEST(Session, AReplacedDocumentContinuesAtTheSameShareOfItsTime) {
  Session session;
  session.open(document_of(regular_events(2, 1, 10)));
  session.state().now_ns = 4'950;
  session.state().is_playing = true;
  session.replace(document_of(regular_events(4, 1, 100)));
  EXPECT_EQ(session.state().now_ns, 49'950);
  EXPECT_TRUE(session.state().is_playing);
}

}  // namespace
}  // namespace ringside::gui
