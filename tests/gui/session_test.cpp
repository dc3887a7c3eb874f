#include "gui/model/session/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

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

// The pointer may rest on a chunk of a call of more ranks, while the time goes on to the next call.
TEST(Session, AChunkOfAnotherCallHasNoTip) {
  Session session;
  session.open(late_document());
  session.state().now_ns = 60'000;
  session.prepare(View::Chunks, {.width = 900, .height = 500});
  EXPECT_FALSE(session.tip({Target::Kind::Chunks, 1, 0, 0}).empty());
  EXPECT_TRUE(session.tip({Target::Kind::Chunks, 1'000'000, 0, 0}).empty());
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

// Call 0 of group 0 runs from 0 to 100 us, that of group 1 from 20 to 30 us.
TEST(Session, TheCurrentCallsAreThoseThatRun) {
  std::vector<TraceEvent> events(2);
  for (TraceEvent& event : events) event.kind = EventKind::Collective;
  events[0].end_ns = 100'000;
  events[1].communicator = 1;
  events[1].begin_ns = 20'000;
  events[1].end_ns = 30'000;
  Document document = *document_of(events);
  name_communicators(document, {"world", "pair"});
  EXPECT_EQ(document.call_at(25'000)->communicator, 1U);
  EXPECT_EQ(document.running_at(25'000, 10).size(), 2U);
  EXPECT_EQ(document.call_at(50'000)->communicator, 0U) << "the call of group 1 has ended";
  EXPECT_EQ(titles_at(document, 50'000).find("pair"), std::string::npos);
  document.calls[0].never_ended = true;
  EXPECT_NE(titles_at(document, 100'000).find("(never ended)"), std::string::npos);
}

/// Shows, at a time, 60 groups of 2 ranks with a call each: the rows of the last one are far below the first ones.
///
/// time_of  of a group's call
void show_60_groups(Session& session, std::int64_t now_ns,
                    const std::function<TimeRange(std::uint32_t)>& time_of) {
  std::vector<TraceEvent> events;
  for (std::uint32_t group = 0; group < 60; ++group) {
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      TraceEvent call;
      call.kind = EventKind::Collective;
      call.communicator = group;
      call.rank = rank;
      call.begin_ns = time_of(group).begin_ns;
      call.end_ns = time_of(group).end_ns;
      events.push_back(call);
    }
  }
  session.open(document_of(events));
  session.state().now_ns = now_ns;
  session.show_current_call();
}

TEST(Session, AStillIsScrolledToTheGroupOfItsCall) {
  const auto one_by_one = [](std::uint32_t group) {
    return TimeRange{1000 * group, 1000 * group + 1000};
  };
  Session session;
  show_60_groups(session, 500, one_by_one);
  EXPECT_EQ(session.state().scroll, 0) << "the first group is in sight";
  show_60_groups(session, 59'500, one_by_one);
  const Panel& panel = session.prepare(View::Timeline, {.width = 1000, .height = 600});
  EXPECT_TRUE(std::ranges::any_of(
      panel.picture.words, [](const Words& words) { return words.text == "- communicator 59"; }));
}

TEST(Session, OfTheGroupsThatRunTheFirstIsShown) {
  Session session;
  show_60_groups(session, 500, [](std::uint32_t group) { return TimeRange{group, 1000}; });
  EXPECT_EQ(session.state().scroll, 0);
}

// Whole calls without steps: no rates of zero, and no empty tables.
TEST(Numbers, UnknownNumbersAreNamedAsSuch) {
  std::vector<TraceEvent> events(1);
  events[0].kind = EventKind::Collective;
  events[0].bytes = 1'000'000;
  events[0].end_ns = 10'000;
  Session session;
  session.open(document_of(events));
  const auto text_at = [&](std::int64_t now_ns) {
    session.state().now_ns = now_ns;
    return to_text(session.prepare(View::Numbers, {.width = 900, .height = 500}));
  };
  const std::string middle = text_at(5'000);
  EXPECT_NE(middle.find("algbw | unknown"), std::string::npos) << middle;
  EXPECT_EQ(middle.find("0 B of 0 B"), std::string::npos);
  EXPECT_EQ(middle.find("nothing has arrived"), std::string::npos);
  EXPECT_NE(text_at(10'000).find("algbw | 100.00 GB/s"), std::string::npos);
}

// Of an all-reduce of two ranks the bus carries as much as the algorithm, of one of four ranks 1.5 times as much.
TEST(Numbers, TheBusBandwidthIsThatOfTheCallsOwnGroup) {
  std::vector<TraceEvent> events;
  const auto add_call = [&](std::uint32_t communicator, std::int32_t ranks, std::int64_t begin_ns) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      TraceEvent event;
      event.kind = EventKind::Collective;
      event.communicator = communicator;
      event.rank = rank;
      event.bytes = 1'000'000;
      event.begin_ns = begin_ns;
      event.end_ns = begin_ns + 10'000;
      events.push_back(event);
    }
  };
  add_call(0, 4, 0);
  add_call(1, 2, 20'000);
  Session session;
  session.open(document_of(events));
  const auto text_at = [&](std::int64_t now_ns) {
    session.state().now_ns = now_ns;
    return to_text(session.prepare(View::Numbers, {.width = 900, .height = 500}));
  };
  EXPECT_NE(text_at(10'000).find("busbw | 150.00 GB/s"), std::string::npos);
  const std::string pair = text_at(30'000);
  EXPECT_NE(pair.find("busbw | 100.00 GB/s"), std::string::npos) << pair;
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
