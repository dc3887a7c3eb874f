#include "trace/replay/critical_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/traces.h"

namespace ringside {
namespace {

using testing::ElementsAre;

TraceEvent step_of(int rank, std::uint32_t number, Primitive primitive, int from, int to,
                   TimeRange time) {
  TraceEvent event;
  event.rank = rank;
  event.step = number;
  event.primitive = primitive;
  event.recv_peer = from;
  event.send_peer = to;
  event.begin_ns = time.begin_ns;
  event.end_ns = time.end_ns;
  event.bytes = 100;
  return event;
}

std::vector<PathCause> causes_of(const std::vector<PathLeg>& legs) {
  std::vector<PathCause> causes;
  for (const PathLeg& leg : legs) causes.push_back(leg.cause);
  return causes;
}

/// Expects that each leg begins where the event that it waited for ended.
void expect_chain(const Replay& replay, const std::vector<PathLeg>& legs) {
  for (std::size_t i = 1; i < legs.size(); ++i) {
    EXPECT_EQ(legs[i].time.begin_ns, replay.event(legs[i - 1].step).end_ns) << i;
    EXPECT_EQ(legs[i].time.end_ns, replay.event(legs[i].step).end_ns) << i;
  }
}

// Rank 0 computes long before it sends; rank 1 has waited since 0, and passes the data on to rank 2.
TEST(CriticalPath, GoesBackToTheLateRank) {
  const std::vector<TraceEvent> events{
      step_of(0, 0, Primitive::Copy, -1, -1, {0, 500}),
      step_of(0, 1, Primitive::Send, -1, 1, {500, 520}),
      step_of(1, 0, Primitive::RecvCopySend, 0, 2, {0, 600}),
      step_of(2, 0, Primitive::Recv, 1, -1, {0, 700}),
  };
  const Opened one = opened(events);
  const auto legs = critical_path(*one.replay, 0, 0);
  EXPECT_THAT(causes_of(legs), ElementsAre(PathCause::Begin, PathCause::Own, PathCause::Message,
                                           PathCause::Message));
  ASSERT_EQ(legs.size(), 4U);
  EXPECT_EQ(legs[2].peer, 0);
  EXPECT_EQ(legs[3].peer, 1);
  expect_chain(*one.replay, legs);
}

// The chunk arrived long before rank 1 was ready for it: rank 1's own step was the delay.
TEST(CriticalPath, AWaitingChunkIsNotOnThePath) {
  const std::vector<TraceEvent> events{
      step_of(0, 0, Primitive::Send, -1, 1, {0, 20}),
      step_of(1, 0, Primitive::Copy, -1, -1, {0, 400}),
      step_of(1, 1, Primitive::Recv, 0, -1, {400, 450}),
  };
  const Opened one = opened(events);
  EXPECT_THAT(causes_of(critical_path(*one.replay, 0, 0)),
              ElementsAre(PathCause::Begin, PathCause::Own));
}

// Two chunks of 100 ns each use one link: the second one's sender waits until the first has crossed, so the path
// contains the link twice and then the receiver.
TEST(CriticalPath, ABusyWayIsWaitedFor) {
  const std::vector<TraceEvent> events{
      step_of(0, 0, Primitive::Send, -1, 1, {0, 0}),
      step_of(0, 1, Primitive::Send, -1, 1, {0, 100}),
      step_of(1, 0, Primitive::Recv, 0, -1, {0, 110}),
      step_of(1, 1, Primitive::Recv, 0, -1, {110, 210}),
  };
  const Opened one = opened(events);
  const PathKnowledge knowledge{.chunk = [](const TraceEvent&, std::int32_t) {
    return ChunkTimes{Nanoseconds{100}, Nanoseconds{10}};
  }};
  const auto legs = critical_path(*one.replay, 0, 0, knowledge);
  EXPECT_THAT(causes_of(legs), ElementsAre(PathCause::Begin, PathCause::Link, PathCause::Message));
  expect_chain(*one.replay, legs);
  EXPECT_EQ(legs[1].peer, 1);
}

// There is room for one chunk; rank 1 is slow to take the first.
TEST(CriticalPath, ASlotThatIsGivenBackLateIsWaitedFor) {
  const std::vector<TraceEvent> events{
      step_of(0, 0, Primitive::Send, -1, 1, {0, 10}),
      step_of(0, 1, Primitive::Send, -1, 1, {10, 300}),
      step_of(1, 0, Primitive::Recv, 0, -1, {200, 300}),
      step_of(1, 1, Primitive::Recv, 0, -1, {300, 420}),
  };
  const Opened one = opened(events);
  const auto legs = critical_path(*one.replay, 0, 0, {.room = 1});
  ASSERT_GE(legs.size(), 3U);
  EXPECT_EQ(legs[legs.size() - 2].cause, PathCause::Room);
  EXPECT_EQ(legs[legs.size() - 2].peer, 1);
  EXPECT_EQ(legs.back().cause, PathCause::Message);
}

TEST(CriticalPath, OtherCallsAndCommunicatorsAreNotLookedAt) {
  std::vector<TraceEvent> events{step_of(0, 0, Primitive::Copy, -1, -1, {0, 10}),
                                 step_of(0, 1, Primitive::Copy, -1, -1, {10, 900})};
  events[1].sequence = 1;
  TraceEvent foreign = step_of(0, 0, Primitive::Copy, -1, -1, {0, 5000});
  foreign.communicator = 9;
  events.push_back(foreign);
  const Opened one = opened(events);
  const auto first = critical_path(*one.replay, 0, 0);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].time.end_ns, 10);
  EXPECT_EQ(critical_path(*one.replay, 0, 1).size(), 1U);
  EXPECT_TRUE(critical_path(*one.replay, 0, 2).empty());
  EXPECT_TRUE(critical_path(*one.replay, 5, 0).empty());
}

// The walk ends and never moves forward in time, even on a damaged trace.
TEST(CriticalPath, EndsOnAnything) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const std::vector<TraceEvent> events = random_events(random, 400, {});
    const Opened one = opened(events);
    for (std::uint32_t sequence = 0; sequence < 10; ++sequence) {
      for (const int room : {0, 2}) {
        const PathKnowledge knowledge{.chunk =
                                          [](const TraceEvent&, std::int32_t) {
                                            return ChunkTimes{Nanoseconds{3}, Nanoseconds{1}};
                                          },
                                      .room = room};
        for (const std::uint32_t communicator : {0U, 7U}) {
          const auto legs = critical_path(*one.replay, communicator, sequence, knowledge);
          for (std::size_t i = 1; i < legs.size(); ++i) {
            EXPECT_LE(legs[i - 1].time.end_ns, legs[i].time.end_ns);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringside
