#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gui/model/session/session.h"
#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

/// Each view's output for the small trace at 60 us, compared with the reviewed text.
/// RINGSIDE_UPDATE_GOLDEN=1 rewrites them; git diff is the review.
class GoldenView : public testing::TestWithParam<int> {};

TEST_P(GoldenView, EqualsTheGoldenFile) {
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

}  // namespace
}  // namespace ringside::gui
