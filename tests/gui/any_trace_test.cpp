#include <gtest/gtest.h>

#include "gui/model/session/session.h"
#include "tests/gui/many_documents.h"

/// Shows every view of each document that can be opened, without a display. It has the label unit so that the
/// sanitizers run it, too.
namespace ringside::gui {
namespace {

class AnyDocument : public testing::TestWithParam<int> {};

TEST_P(AnyDocument, EveryViewIsPreparedForSixtyFrames) {
  for (int view = 0; view < kViews; ++view) {
    const auto document = many_documents()[static_cast<std::size_t>(GetParam())].make();
    Session session;
    session.open(document);
    session.compare_with(document);
    session.state().view = static_cast<View>(view);
    session.state().is_playing = true;
    for (int frame = 0; frame < 60; ++frame) {
      advance(session.state(), *session.document(), 1.0 / 60);
      if (frame % 20 == 0) zoom(session.state(), *session.document(), 0.3, session.state().now_ns);
      session.prepare({.width = 900, .height = 500});
    }
    EXPECT_FALSE(to_text(session.prepare({.width = 900, .height = 500})).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Opened, AnyDocument,
                         testing::Range(0, static_cast<int>(many_documents().size())),
                         [](const auto& number) {
                           return many_documents()[static_cast<std::size_t>(number.param)].name;
                         });

/// Random traces: every view at many moments, with many selections.
TEST(AnyTrace, EveryViewShowsItWithoutHarm) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 12; ++trial) {
    const Shape shape{
        .communicators = 1 + trial % 3, .ranks = 1 << (trial % 6), .channels = 1 + trial % 4};
    Session session;
    session.open(document_of(random_events(random, trial == 0 ? 1 : 500, shape)));
    const TimeRange whole = session.document()->whole();
    for (int frame = 0; frame < 60; ++frame) {
      State& state = session.state();
      state.now_ns = whole.begin_ns + (whole.end_ns - whole.begin_ns) * frame / 59;
      if (frame % 3 == 0)
        zoom(state, *session.document(), frame % 2 == 0 ? 0.5 : 1.7, state.now_ns);
      const Panel& panel =
          session.prepare(static_cast<View>(frame % kViews),
                          {.width = 40.0F + 13 * static_cast<float>(frame), .height = 300});
      if (!panel.picture.spots.empty()) {
        const Target target = panel.picture.spots[random() % panel.picture.spots.size()].target;
        static_cast<void>(session.tip(target));
        session.click(target, state.now_ns);
      }
    }
  }
}

}  // namespace
}  // namespace ringside::gui
