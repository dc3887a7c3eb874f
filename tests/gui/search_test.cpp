#include "gui/model/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

TEST(Search, WordsAreReadAndWrongOnesNamed) {
  const auto query = parse_query("rank=3 channel=2 call=5 recv_reduce_send >10us waiting");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->rank, 3);
  EXPECT_EQ(query->channel, 2);
  EXPECT_EQ(query->call, 5);
  EXPECT_EQ(query->primitive, Primitive::RecvReduceSend);
  EXPECT_EQ(query->longer_than, Nanoseconds{10'000});
  EXPECT_TRUE(query->is_waiting);
  const auto wrong = parse_query("rnk=3");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().help, testing::HasSubstr("rank"));
  EXPECT_FALSE(parse_query("sideways"));
  EXPECT_FALSE(parse_query("rank=x"));
  EXPECT_FALSE(parse_query(">10"));
}

TEST(Search, FindsWaitingAndLongestEvents) {
  const auto document = late_document();
  const State state = first_state(*document);
  EXPECT_EQ(find_event(*document, *parse_query("waiting"), state, true), EventId{1});
  EXPECT_EQ(find_longest(*document, *parse_query("rank=1 recv")), EventId{6});
  EXPECT_EQ(find_event(*document, *parse_query("rank=7"), state, true), std::nullopt);
}

/// Searches forwards, backwards and across the end, and compares with a scan of all events.
TEST(Search, AgreesWithAScan) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 30; ++trial) {
    const auto document = document_of(random_events(random, 200, {}));
    const Replay& replay = *document->replay;
    const Query query = *parse_query(trial % 2 == 0 ? "rank=1" : ">20ns");
    std::vector<std::pair<std::int64_t, std::uint32_t>> fitting;
    for (std::size_t lane = 0; lane < replay.lanes().size(); ++lane) {
      for (const EventId id : replay.events(LaneId{static_cast<std::uint32_t>(lane)})) {
        const TraceEvent event = replay.event(id);
        const bool fits = trial % 2 == 0 ? event.rank == 1 : event.end_ns - event.begin_ns > 20;
        if (fits) fitting.emplace_back(event.begin_ns, to_int(id));
      }
    }
    std::ranges::sort(fitting);
    if (fitting.empty()) continue;
    State state = first_state(*document);
    state.event = EventId{fitting[fitting.size() / 2].second};
    for (std::size_t i = 1; i <= fitting.size(); ++i) {
      const auto found = find_event(*document, query, state, true);
      ASSERT_EQ(found, EventId{fitting[(fitting.size() / 2 + i) % fitting.size()].second});
      state.event = *found;
    }
    for (std::size_t i = 1; i <= fitting.size(); ++i) {
      const auto found = find_event(*document, query, state, false);
      ASSERT_EQ(
          found,
          EventId{fitting[(2 * fitting.size() + fitting.size() / 2 - i) % fitting.size()].second});
      state.event = *found;
    }
  }
}

}  // namespace
}  // namespace ringside::gui
