#include "gui/model/session/session.h"

#include <gtest/gtest.h>

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
