#include "gui/model/state.h"

#include <gtest/gtest.h>

#include "gui/model/session/session.h"
#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

TEST(Share, AHundredHundredthsAreAllOfIt) {
  EXPECT_EQ(share_of(104'149, 100), 104'149);
  EXPECT_EQ(share_of(149, 50), 74);
  EXPECT_EQ(share_of(INT64_MAX, 100), INT64_MAX);
}

TEST(State, BeginsAtTheBeginningWithAllInSight) {
  const auto document = late_document();
  const State state = first_state(*document);
  EXPECT_EQ(state.now_ns, 0);
  EXPECT_LT(state.visible.begin_ns, 0);
  EXPECT_GT(state.visible.end_ns, 100'000);
}

TEST(State, AtOneNanosecondASecondAFrameIsLessThanOne) {
  const auto document = late_document();
  State state = first_state(*document);
  state.is_playing = true;
  state.speed = 1;
  for (int frame = 0; frame < 59; ++frame) advance(state, *document, 1.0 / 60);
  EXPECT_EQ(state.now_ns, 0);
  for (int frame = 0; frame < 3; ++frame) advance(state, *document, 1.0 / 60);
  EXPECT_EQ(state.now_ns, 1);
}

TEST(State, StopsAtTheEndOrBeginsAnew) {
  const auto document = late_document();
  State state = first_state(*document);
  state.is_playing = true;
  state.speed = 1e9;
  advance(state, *document, 1);
  EXPECT_EQ(state.now_ns, 100'000);
  EXPECT_FALSE(state.is_playing);
  state.is_playing = state.loops = true;
  state.ruler = TimeRange{20'000, 30'000};
  advance(state, *document, 1);
  EXPECT_EQ(state.now_ns, 20'000);
  EXPECT_TRUE(state.is_playing);
}

TEST(State, ZoomKeepsTheMomentWhereItIs) {
  const auto document = late_document();
  State state = first_state(*document);
  const auto share = [&](std::int64_t time) {
    return static_cast<double>(time - state.visible.begin_ns) /
           static_cast<double>(state.visible.end_ns - state.visible.begin_ns);
  };
  const double before = share(30'000);
  zoom(state, *document, 0.25, 30'000);
  EXPECT_NEAR(share(30'000), before, 0.001);
  for (int i = 0; i < 60; ++i) zoom(state, *document, 0.5, 30'000);
  EXPECT_EQ(state.visible.end_ns - state.visible.begin_ns, 10);
  for (int i = 0; i < 90; ++i) zoom(state, *document, 2, 30'000);
  EXPECT_LE(state.visible.end_ns - state.visible.begin_ns, 110'000);
}

// An event of 2^63 - 1 ns, with no representable range around it.
TEST(State, AnEventBeyondTheRangeIsFittedNevertheless) {
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  std::vector<TraceEvent> events = regular_events(2, 1, 3);
  events[0].begin_ns = -kFar;
  events[0].end_ns = kFar - 1;
  Session session;
  session.open(document_of(events));
  select(session.state(), *session.document(), EventId{0});
  session.press(Command::FitChosen);
  const TimeRange all = session.state().visible;
  EXPECT_LE(all.begin_ns, session.document()->whole().begin_ns);
  EXPECT_GE(all.end_ns, session.document()->whole().end_ns);
  EXPECT_FALSE(to_text(session.prepare({.width = 700, .height = 400})).empty());
}

TEST(State, StepsByPrimitiveRoundAndCall) {
  const auto document = late_document();
  State state = first_state(*document);
  step(state, *document, Stride::Primitive, true);
  EXPECT_EQ(state.now_ns, 10'000);  // rank 0's send ends first
  step(state, *document, Stride::Primitive, true);
  EXPECT_EQ(state.now_ns, 50'000);
  step(state, *document, Stride::Primitive, false);
  EXPECT_EQ(state.now_ns, 10'000);
  step(state, *document, Stride::Round, true);
  EXPECT_EQ(state.now_ns, 50'000);  // step 0 of both ranks
  step(state, *document, Stride::Round, true);
  EXPECT_EQ(state.now_ns, 80'000);
  step(state, *document, Stride::Call, true);
  EXPECT_EQ(state.now_ns, 100'000);
}

TEST(State, AChunkIsFollowedToItsReceiver) {
  const auto document = late_document();
  State state = first_state(*document);
  select(state, *document, EventId{0});  // rank 0 sends chunk 1
  ASSERT_TRUE(state.connection);
  EXPECT_EQ(state.connection->sender, 0);
  EXPECT_EQ(state.connection->receiver, 1);
  step(state, *document, Stride::Chunk, true);
  EXPECT_EQ(document->replay->event(state.event).rank, 1);
  EXPECT_EQ(state.now_ns, 80'000);
  step(state, *document, Stride::Chunk, false);
  EXPECT_EQ(state.event, EventId{0});
}

TEST(State, ViewsAreParsedByNameAndErrorsSuggestTheNearest) {
  for (int i = 0; i < kViews; ++i) {
    EXPECT_EQ(*parse_view(to_string(static_cast<View>(i))), static_cast<View>(i));
  }
  const auto wrong = parse_view("chunk");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().help.find("chunks"), std::string::npos);
}

}  // namespace
}  // namespace ringside::gui
