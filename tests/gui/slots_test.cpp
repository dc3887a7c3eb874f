#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gui/model/connection.h"
#include "gui/model/session/session.h"
#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Rank 0 sends at 10, 20, ... ns and rank 1 takes nothing before 1000.
std::shared_ptr<const Document> slow_receiver(int messages) {
  std::vector<TraceEvent> events;
  for (int i = 0; i < messages; ++i) {
    TraceEvent send;
    send.primitive = Primitive::Send;
    send.send_peer = 1;
    send.step = static_cast<std::uint32_t>(i);
    send.begin_ns = 10 * i;
    send.end_ns = i < 8 ? send.begin_ns + 10 : 1000 + 10 * i;  // the ninth has to wait for a slot
    TraceEvent take = send;
    take.primitive = Primitive::Recv;
    take.rank = 1;
    take.send_peer = -1;
    take.recv_peer = 0;
    take.begin_ns = 1000 + 10 * i;
    take.end_ns = take.begin_ns + 10;
    events.push_back(send);
    events.push_back(take);
  }
  return document_of(events);
}

TEST(Slots, EightFillUpAndTheSenderWaits) {
  const auto document = slow_receiver(10);
  const auto history = ConnectionHistory::make(*document->replay, {0, 0, 1, 0});
  ASSERT_EQ(history.messages().size(), 10U);
  EXPECT_EQ(history.at(35).posted, 3U);
  EXPECT_EQ(history.at(35).taken, 0U);
  EXPECT_EQ(history.at(500).posted, 8U);
  EXPECT_TRUE(history.at(500).is_sending);
  State state = first_state(*document);
  state.now_ns = 500;
  Slots slots(Making::Now);
  Panel panel;
  slots.prepare(document, state, {.width = 1000, .height = 600}, panel);
  EXPECT_THAT(panel.lines,
              Contains(HasSubstr("rank 0 waits: all 8 slots are full until rank 1 takes one")));
}

TEST(Slots, AReceiverWaitsForAMessageThatWasNotPosted) {
  const auto document = late_document();
  State state = first_state(*document);
  state.connection = ConnectionKey{0, 1, 0, 0};
  state.now_ns = 30'000;  // rank 0 has been in its step since 10 us, rank 1 begins at 40
  EXPECT_FALSE(ConnectionHistory::make(*document->replay, *state.connection).at(30'000).is_sending);
  Slots slots(Making::Now);
  Panel panel;
  slots.prepare(document, state, {.width = 1000, .height = 600}, panel);
  EXPECT_THAT(panel.lines,
              Contains(HasSubstr("rank 0 waits: no slot is filled until rank 1 posts one")));
}

// Eight ranks in a ring on two channels: 16 connections, each with its eight slots, and a click shows one in large.
TEST(Slots, OtherConnectionsAreShownInSmall) {
  const auto document = document_of(regular_events(8, 2, 20));
  Session session;
  session.open(document);
  session.state().view = View::Slots;
  session.state().now_ns = 5'500;
  const Panel& panel = session.prepare({.width = 1200, .height = 900});
  std::vector<Spot> small;
  for (const Spot& spot : panel.picture.spots) {
    if (spot.target.kind == Target::Kind::Connection) small.push_back(spot);
  }
  ASSERT_EQ(small.size(), 16U);
  const Target target = small[5].target;
  EXPECT_THAT(session.tip(target).front(), HasSubstr("click to see its slots"));
  session.click(target, 0);
  ASSERT_TRUE(session.state().connection);
  EXPECT_THAT(session.prepare({.width = 1200, .height = 900}).lines.front(),
              HasSubstr("rank 2 to rank 3, channel 1"));
}

// 32 ranks x 2 channels: 64 connections, of which 48 are drawn.
TEST(Slots, ConnectionsThatAreNotShownAreCounted) {
  Session session;
  session.open(document_of(regular_events(32, 2, 3)));
  const std::string text = to_text(session.prepare(View::Slots, {.width = 1600, .height = 1200}));
  EXPECT_THAT(text, HasSubstr("48 of 64 connections"));
}

TEST(Slots, TheBusiestConnectionIsShownUnlessOneIsChosen) {
  const auto document = slow_receiver(3);
  const auto known = connections_of(*document, 5);
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known.front(), (ConnectionKey{0, 0, 1, 0}));
}

}  // namespace
}  // namespace ringside::gui
