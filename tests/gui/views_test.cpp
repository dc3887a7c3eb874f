#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gui/model/session.h"
#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

/// What each view gives for the small trace at 60 us, beside the text that it gave when somebody looked at it.
/// RINGSIDE_UPDATE_GOLDEN=1 rewrites them; git diff is the review.
class GoldenView : public testing::TestWithParam<int> {};

TEST_P(GoldenView, IsAsItWas) {
  const auto view = static_cast<View>(GetParam());
  Session session;
  session.open(late_document());
  session.compare_with(late_document());
  session.state().now_ns = 60'000;
  const std::string text = to_text(session.prepare(view, {.width = 900, .height = 500}));
  const std::string path = std::string(RINGSIDE_GOLDEN) + "/" + to_string(view) + ".txt";
  if (std::getenv("RINGSIDE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::stringstream known;
  known << file.rdbuf();
  EXPECT_EQ(text, known.str());
}

INSTANTIATE_TEST_SUITE_P(Views, GoldenView, testing::Range(0, kViews), [](const auto& view) {
  return std::string(to_string(static_cast<View>(view.param)));
});

/// Traces of anything: every view at many moments, with many things chosen.
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

TEST(AnyTrace, TenThousandRanksAreShown) {
  Session session;
  session.open(document_of(regular_events(10'000, 1, 2)));
  for (int view = 0; view < kViews; ++view) {
    session.prepare(static_cast<View>(view), {.width = 1000, .height = 600});
  }
}

}  // namespace
}  // namespace ringside::gui
