#include "gui/model/views/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gui/model/views/legend.h"
#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

constexpr Canvas kCanvas{.width = 1200, .height = 700};

std::vector<Box> boxes_of(const Panel& panel, Ink ink) {
  std::vector<Box> found;
  std::ranges::copy_if(panel.picture.boxes, std::back_inserter(found),
                       [&](const Box& box) { return box.ink == ink; });
  return found;
}

TEST(Timeline, WaitingIsShownBeforeTheWork) {
  const auto document = late_document();
  const State state = first_state(*document);
  Timeline timeline;
  Panel panel;
  timeline.prepare(*document, state, kCanvas, panel);
  const auto waiting = boxes_of(panel, Ink::Waiting);
  // Rank 0's call waits from 0 to 40 us, when rank 1 comes, and its step 1 from 10 to 40. No other event waits for
  // one that had not begun.
  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_NEAR(waiting[0].x0, timeline.axis().x_of(0), 1.5);
  EXPECT_NEAR(waiting[0].x1, timeline.axis().x_of(40'000), 1.5);
  EXPECT_NEAR(waiting[1].x0, timeline.axis().x_of(10'000), 1.5);
  EXPECT_NEAR(waiting[1].x1, timeline.axis().x_of(40'000), 1.5);
  EXPECT_EQ(waiting[1].fill, Fill::Hatched);
}

TEST(Timeline, DrawsOnlyInsideItsCanvas) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const auto document = document_of(random_events(random, 400, {.ranks = 20}));
    State state = first_state(*document);
    zoom(state, *document, 0.1, state.now_ns + static_cast<std::int64_t>(random() % 5000));
    state.scroll = static_cast<float>(random() % 500);
    Timeline timeline;
    Panel panel;
    timeline.prepare(*document, state, kCanvas, panel);
    for (const Box& box : panel.picture.boxes) {
      ASSERT_GE(box.x0, -1);
      ASSERT_LE(box.x1, kCanvas.width + 1.5F);
      ASSERT_LE(box.x0, box.x1);
      ASSERT_LE(box.y0, box.y1);
    }
  }
}

/// The property that makes the timeline suitable for searching: at every zoom, long events are visible individually.
TEST(Timeline, TheLongestEventCanAlwaysBeSelected) {
  std::vector<TraceEvent> events = regular_events(2, 1, 100'000);
  events[150'001].end_ns += 2'000'000;  // rank 1, a fiftieth of the whole
  const auto document = document_of(events);
  const State state = first_state(*document);
  Timeline timeline;
  Panel panel;
  timeline.prepare(*document, state, kCanvas, panel);
  const bool is_seen = std::ranges::any_of(panel.picture.spots, [](const Spot& spot) {
    return spot.target.kind == Target::Kind::Event && spot.target.a == 150'001U &&
           spot.target.b == 1;
  });
  EXPECT_TRUE(is_seen);
}

// 8 lanes, each with at most two folds for every 1.5 pixels, and the frame around them.
TEST(Timeline, PixelsLimitTheShapesNotEvents) {
  for (const int steps : {2'000, 40'000, 150'000}) {
    const auto document = document_of(regular_events(4, 2, steps));
    Timeline timeline;
    Panel panel;
    timeline.prepare(*document, first_state(*document), kCanvas, panel);
    EXPECT_LT(static_cast<float>(panel.picture.boxes.size()), 8 * 2 * kCanvas.width / 1.5F + 100)
        << steps;
  }
}

TEST(Timeline, ManyRanksAreFoldedAndChannelsCanComeFirst) {
  const auto document = document_of(regular_events(40, 2, 3));
  State state = first_state(*document);
  Timeline timeline;
  Panel panel;
  timeline.prepare(*document, state, kCanvas, panel);
  EXPECT_EQ(timeline.rows().rows().size(), 40U);
  EXPECT_EQ(timeline.rows().rows()[1].lanes.size(), 2U);
  state.grouping = Grouping::ByChannel;
  timeline.prepare(*document, state, kCanvas, panel);
  ASSERT_EQ(timeline.rows().rows().size(), 2U);
  EXPECT_EQ(timeline.rows().rows()[1].label, "channel 1");
  EXPECT_EQ(timeline.rows().rows()[1].lanes.size(), 40U);
}

TEST(Timeline, TheChosenEventHasArrowsToItsPartners) {
  const auto document = late_document();
  State state = first_state(*document);
  select(state, *document, EventId{1});
  Timeline timeline;
  Panel panel;
  timeline.prepare(*document, state, kCanvas, panel);
  const auto arrows = std::ranges::count_if(panel.picture.strokes, [](const Stroke& stroke) {
    return stroke.has_head && stroke.ink == Ink::Chosen;
  });
  EXPECT_EQ(arrows, 2);  // from rank 1's send, to rank 1's receive
}

// Two ranks with a channel each are four rows: they fill the height, and many rows keep the least height.
TEST(Timeline, FewRowsGrow) {
  Timeline timeline;
  Panel panel;
  const auto few = document_of(regular_events(2, 1, 3));
  timeline.prepare(*few, first_state(*few), kCanvas, panel);
  EXPECT_NEAR(timeline.row_height(), 6 * kCanvas.line, 0.1);
  const auto some = document_of(regular_events(10, 1, 3));
  timeline.prepare(*some, first_state(*some), kCanvas, panel);
  ASSERT_EQ(timeline.rows().rows().size(), 20U) << "of each rank, and of its channel";
  EXPECT_NEAR(timeline.top() + 20 * timeline.row_height(), kCanvas.height, 0.1);
  EXPECT_EQ(timeline.most_scroll(), 0);
  const auto many = document_of(regular_events(200, 1, 3));
  timeline.prepare(*many, first_state(*many), kCanvas, panel);
  EXPECT_NEAR(timeline.row_height(), 1.45 * kCanvas.line, 0.1);
}

// Each rank receives from the one before it on both channels: one arrow from row to row.
TEST(Timeline, FoldedRanksHaveAnArrowForWhatIsInFlight) {
  const auto document = document_of(regular_events(40, 2, 3));
  State state = first_state(*document);
  state.now_ns = 1'100;
  Timeline timeline;
  Panel panel;
  timeline.prepare(*document, state, {.width = 1200, .height = 2000}, panel);
  EXPECT_EQ(timeline.rows().rows().size(), 40U);
  const auto flows = std::ranges::count_if(panel.picture.strokes, [](const Stroke& stroke) {
    return stroke.has_head && stroke.ink == Ink::Now;
  });
  EXPECT_EQ(flows, 40);
}

TEST(Timeline, GroupsOfRanksAndOtherKernelsHaveColoursOfTheirOwn) {
  std::vector<TraceEvent> events;
  for (std::uint32_t group = 0; group < 3; ++group) {
    TraceEvent call;
    call.kind = EventKind::Collective;
    call.communicator = group;
    call.begin_ns = 1000 * group;
    call.end_ns = call.begin_ns + 900;
    events.push_back(call);
  }
  TraceEvent compute;
  compute.kind = EventKind::Compute;
  compute.channel = kComputeChannel;
  compute.end_ns = 3000;
  events.push_back(compute);
  const auto document = document_of(events);
  Timeline timeline;
  Panel panel;
  timeline.prepare(*document, first_state(*document), kCanvas, panel);
  for (const Ink ink : {Ink::Call, Ink::Group1, Ink::Group2, Ink::Compute})
    EXPECT_EQ(boxes_of(panel, ink).size(), 1U) << static_cast<int>(ink);
  const auto legend = legend_of(*document, View::Timeline);
  for (const Ink ink : {Ink::Call, Ink::Group1, Ink::Group2, Ink::Compute}) {
    EXPECT_TRUE(std::ranges::any_of(legend, [&](const LegendEntry& one) { return one.ink == ink; }))
        << static_cast<int>(ink);
  }
}

// 8 groups of one kind and 2 of another are more than the colours: each kind has one, and the legend names both.
TEST(Timeline, ManyGroupsAreColouredByTheirKind) {
  std::vector<TraceEvent> events;
  std::vector<std::string> names;
  for (std::uint32_t group = 0; group < 10; ++group) {
    TraceEvent call;
    call.kind = EventKind::Collective;
    call.communicator = group;
    call.end_ns = 900;
    events.push_back(call);
    names.push_back(group < 8 ? "tensor [" + std::to_string(group) + "]"
                              : "data [" + std::to_string(group) + "]");
  }
  Document document = *document_of(events);
  name_communicators(document, names);
  EXPECT_EQ(ink_of_group(document, 0), ink_of_group(document, 7));
  EXPECT_EQ(ink_of_group(document, 8), ink_of_group(document, 9));
  EXPECT_NE(ink_of_group(document, 7), ink_of_group(document, 8));
  std::vector<std::string> legend;
  for (const LegendEntry& one : legend_of(document, View::Timeline)) legend.push_back(one.text);
  EXPECT_EQ(legend[0], "tensor");
  EXPECT_EQ(legend[1], "data");
}

// 80 ranks with a call and a kernel each are folded: both are drawn in the rank's row.
TEST(Timeline, AFoldedRankShowsItsKernelsBelowItsCalls) {
  std::vector<TraceEvent> events;
  for (std::int32_t rank = 0; rank < 80; ++rank) {
    TraceEvent call;
    call.kind = EventKind::Collective;
    call.rank = rank;
    call.begin_ns = 1000;
    call.end_ns = 2000;
    events.push_back(call);
    TraceEvent compute;
    compute.kind = EventKind::Compute;
    compute.channel = kComputeChannel;
    compute.rank = rank;
    compute.end_ns = 1000;
    events.push_back(compute);
  }
  const auto document = document_of(events);
  Timeline timeline;
  Panel panel;
  timeline.prepare(*document, first_state(*document), {.width = 1200, .height = 4000}, panel);
  EXPECT_EQ(timeline.rows().rows().size(), 80U);
  const auto calls = boxes_of(panel, Ink::Call);
  const auto compute = boxes_of(panel, Ink::Compute);
  ASSERT_EQ(calls.size(), 80U);
  ASSERT_EQ(compute.size(), 80U);
  EXPECT_LE(calls[0].y1, compute[0].y0);
  EXPECT_LT(compute[0].y1, calls[1].y0);
}

TEST(Timeline, TimesAtTheRightEdgeAreNotCut) {
  const auto document = document_of(regular_events(2, 1, 1000));
  State state = first_state(*document);
  for (int i = 0; i < 40; ++i) {
    Timeline timeline;
    Panel panel;
    timeline.prepare(*document, state, kCanvas, panel);
    float last = 0;
    for (const Words& words : panel.picture.words) {
      if (words.y > 3) continue;
      const float width = kCanvas.letter * static_cast<float>(words.text.size());
      const float x = words.align == Words::Align::Right ? words.x - width : words.x;
      EXPECT_LE(x + width, kCanvas.width) << words.text;
      EXPECT_GT(x, last) << words.text;
      last = x + width;
    }
    pan(state, *document, 0.01);
    zoom(state, *document, 0.97, state.now_ns);
  }
}

TEST(TimeAxis, TicksAreAtRoundTimesWithDistinctLabels) {
  for (std::int64_t length = 20; length < 4'000'000'000'000; length *= 7) {
    const TimeAxis axis{{1'000'000'123, 1'000'000'123 + length}, 100, 1200, 1'000'000'000};
    const auto ticks = ticks_of(axis, 80);
    ASSERT_GE(ticks.size(), 4U) << length;
    ASSERT_LE(ticks.size(), 15U) << length;
    for (std::size_t i = 1; i < ticks.size(); ++i) {
      EXPECT_NE(ticks[i].text, ticks[i - 1].text);
      EXPECT_GE(axis.x_of(ticks[i].time_ns) - axis.x_of(ticks[i - 1].time_ns), 79.0F);
    }
  }
}

TEST(TimeAxis, ExactTimesKeepTheirNanoseconds) {
  EXPECT_EQ(exact_time(1'234'567, 1'000'000), "1.234567 ms");
  EXPECT_EQ(exact_time(2'000'000, 1'000'000), "2 ms");
  EXPECT_EQ(exact_time(17, 10), "17 ns");
  EXPECT_EQ(exact_time(-1'500, 1'000), "-1.5 us");
}

}  // namespace
}  // namespace ringside::gui
