#include "gui/model/transfers.h"

#include <gtest/gtest.h>

#include "gui/model/session/session.h"
#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

TEST(Transfers, TransfersOfAMomentEqualThoseFoundByAScan) {
  std::mt19937 random(3);
  std::vector<TraceEvent> events = random_events(random, 20'000, {.communicators = 1, .ranks = 6});
  for (TraceEvent& event : events) event.sequence = 0;
  const auto document = document_of(events);
  ASSERT_FALSE(document->calls.empty());
  const Transfers transfers = transfers_of(*document, document->calls.front());
  ASSERT_GT(transfers.all.size(), 10 * Transfers::kBlock);
  const TimeRange whole = document->whole();
  for (int i = 0; i < 200; ++i) {
    const auto any = [&] {
      return whole.begin_ns + static_cast<std::int64_t>(random()) % (whole.end_ns - whole.begin_ns);
    };
    const std::int64_t from = any();
    const std::int64_t to = any();
    std::vector<const Transfer*> expected;
    for (const Transfer& one : transfers.all) {
      if (one.begin_ns <= to && one.taken_ns >= from) expected.push_back(&one);
    }
    std::vector<const Transfer*> found;
    transfers.for_each_between(from, to, [&](const Transfer& one) { found.push_back(&one); });
    ASSERT_EQ(found, expected) << from << " to " << to;
  }
}

// The numbers of a moment do not depend on the moments shown before.
TEST(Numbers, TheWayToAMomentDoesNotCount) {
  const auto document = document_of(regular_events(4, 2, 300));
  const auto text_at = [&](Session& session, std::int64_t now_ns) {
    session.state().now_ns = now_ns;
    return to_text(session.prepare(View::Numbers, {.width = 900, .height = 500}));
  };
  const auto fresh = [&](std::int64_t now_ns) {
    Session session;
    session.open(document);
    return text_at(session, now_ns);
  };
  Session session;
  session.open(document);
  for (const std::int64_t now_ns : {50'000, 50'001, 290'000, 120'000, 120'000, 0, 299'000})
    EXPECT_EQ(text_at(session, now_ns), fresh(now_ns)) << now_ns;
  EXPECT_NE(fresh(50'000), fresh(120'000));
}

// A ring of 4 ranks: what rank 2 sends and receives takes three times as long.
TEST(Numbers, TheRankThatSlowPairsHaveInCommonIsNamed) {
  std::vector<TraceEvent> events;
  const auto add = [&](int rank, Primitive primitive, int peer, std::int64_t begin,
                       std::int64_t end) {
    TraceEvent event;
    event.rank = rank;
    event.primitive = primitive;
    (primitive == Primitive::Send ? event.send_peer : event.recv_peer) = peer;
    event.begin_ns = begin;
    event.end_ns = end;
    event.bytes = 1000;
    events.push_back(event);
  };
  for (int rank = 0; rank < 4; ++rank) {
    const int to = (rank + 1) % 4;
    const std::int64_t takes = rank == 2 || to == 2 ? 300 : 100;
    add(rank, Primitive::Send, to, 0, 10);
    add(to, Primitive::Recv, rank, 0, takes);
  }
  const auto text_of = [](const std::vector<TraceEvent>& all) {
    Session session;
    session.open(document_of(all));
    session.state().now_ns = 1000;
    return to_text(session.prepare(View::Numbers, {.width = 900, .height = 500}));
  };
  EXPECT_NE(text_of(events).find("the slowest 2 have rank 2 in common"), std::string::npos);
  for (TraceEvent& event : events) event.end_ns = std::min<std::int64_t>(event.end_ns, 100);
  EXPECT_EQ(text_of(events).find("in common"), std::string::npos);
}

}  // namespace
}  // namespace ringside::gui
