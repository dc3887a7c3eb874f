#include "trace/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/replay/traces.h"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TraceEvent event_at(std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t step = 0) {
  TraceEvent event;
  event.begin_ns = begin_ns;
  event.end_ns = end_ns;
  event.step = step;
  return event;
}

std::vector<std::uint32_t> seen(const Replay& replay, TimeRange range) {
  std::vector<EventId> found;
  replay.overlapping(LaneId{0}, range, found);
  std::vector<std::uint32_t> numbers;
  for (const EventId id : found) numbers.push_back(to_int(id));
  return numbers;
}

// A thousand short events, 10 ns apart, and one that began before all of them.
TEST(Replay, OneThatBeganLongAgoIsSeen) {
  std::vector<TraceEvent> events{event_at(0, 20'000)};
  for (int i = 1; i <= 1000; ++i) events.push_back(event_at(10 * i, 10 * i + 5));
  const Opened one = opened(events);
  EXPECT_THAT(seen(*one.replay, {9000, 9020}), ElementsAre(0, 900, 901));
  EXPECT_THAT(seen(*one.replay, {9005, 9010}), ElementsAre(0));  // 900 has ended, 901 begins then
  EXPECT_THAT(seen(*one.replay, {19'999, 30'000}), ElementsAre(0));
  EXPECT_THAT(seen(*one.replay, {20'000, 30'000}), IsEmpty());
}

// 10,000 events of 1 ns each, and one of 2 ns among them: with folds of 1 us, one fold names it.
TEST(Replay, AFoldNamesTheLongestOfThousands) {
  std::vector<TraceEvent> events;
  for (int i = 0; i < 10'000; ++i) events.push_back(event_at(2 * i, 2 * i + (i == 7777 ? 2 : 1)));
  const Opened one = opened(events, 1000);
  std::vector<Fold> folds;
  one.replay->fold(LaneId{0}, {0, 20'000}, Nanoseconds{1000}, folds);
  EXPECT_LE(folds.size(), 40U);
  const auto longest = std::ranges::max_element(folds, {}, &Fold::longest_time);
  EXPECT_EQ(longest->longest, EventId{7777});
  EXPECT_EQ(longest->longest_time, Nanoseconds{2});
}

// 50 messages from rank 0 to rank 1, in blocks of 10 events: the first 3 blocks have 15 of them.
TEST(Replay, ThePartThatIsReadFirstHasTheWholesNumbers) {
  std::vector<TraceEvent> events;
  for (std::uint32_t i = 0; i < 100; ++i) {
    TraceEvent event = event_at(10 * i, 10 * i + 5, i / 2);
    event.rank = static_cast<std::int32_t>(i % 2);
    event.primitive = i % 2 == 0 ? Primitive::Send : Primitive::Recv;
    event.send_peer = i % 2 == 0 ? 1 : -1;
    event.recv_peer = i % 2 == 0 ? -1 : 0;
    events.push_back(event);
  }
  const FileBytes bytes = file_of(events, 10);
  const FileBytes three = file_of(std::span(events).first(30), 10);
  const std::string path =
      testing::TempDir() + "ringside_begin_" + std::to_string(::getpid()) + ".rtrace";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  auto cut = TraceFile::open_begin(path, three.size() + 40);
  const auto whole = Replay::open(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(cut && whole);
  EXPECT_FALSE(cut->counts().is_torn_at_end);
  EXPECT_EQ(cut->counts().skipped_bytes, 0U);
  const auto again = Replay::make(cut->whole());
  ASSERT_TRUE(again);
  const auto part = Replay::make(*std::move(cut));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->statistics().primitives, 30U);
  EXPECT_EQ(whole->statistics().primitives, 100U);
  EXPECT_EQ(again->statistics().primitives, 100U);
  for (std::uint32_t i = 0; i < 30; i += 2) {
    std::vector<EventId> found;
    part->receivers_of(EventId{i}, found);
    whole->receivers_of(EventId{i}, found);
    again->receivers_of(EventId{i}, found);
    EXPECT_THAT(found, ElementsAre(EventId{i + 1}, EventId{i + 1}, EventId{i + 1}));
  }
}

// Rank 0 sends to ranks 1 and 2; rank 2 receives with a primitive that also sends to rank 0.
TEST(Replay, ASendToSeveralPeersLeadsToEachReceive) {
  const auto event = [](int rank, Primitive primitive, int from, int to, EventKind kind) {
    TraceEvent one = event_at(10 * rank, 10 * rank + 5);
    one.rank = rank;
    one.primitive = primitive;
    one.recv_peer = from;
    one.send_peer = to;
    one.kind = kind;
    return one;
  };
  const std::vector<TraceEvent> events{
      event(0, Primitive::Send, -1, 1, EventKind::Primitive),
      event(0, Primitive::Send, -1, 2, EventKind::Peer),
      event(2, Primitive::RecvCopySend, 0, 0, EventKind::Primitive),
      event(1, Primitive::Recv, 0, -1, EventKind::Primitive),
      event(0, Primitive::Recv, 2, -1, EventKind::Primitive),
  };
  const Opened one = opened(events, 1);
  std::vector<EventId> found;
  one.replay->receivers_of(EventId{0}, found);
  EXPECT_THAT(found, ElementsAre(EventId{3}, EventId{2}));
  found.clear();
  one.replay->senders_of(EventId{2}, found);
  one.replay->receivers_of(EventId{2}, found);
  EXPECT_THAT(found, ElementsAre(EventId{0}, EventId{4}));
  ASSERT_EQ(one.replay->lanes().size(), 3U);
  EXPECT_THAT(one.replay->events(LaneId{0}), ElementsAre(EventId{0}, EventId{4}));
}

TEST(Replay, TheCallsLaneOfARankPrecedesItsChannels) {
  std::vector<TraceEvent> events = steps(0, 3);
  events[1].kind = EventKind::Collective;
  const Opened one = opened(events);
  EXPECT_THAT(one.replay->lanes(), ElementsAre(LaneKey{0, 0, LaneKey::kCalls}, LaneKey{0, 0, 0}));
  EXPECT_THAT(one.replay->events(LaneId{0}), ElementsAre(EventId{1}));
  EXPECT_EQ(one.replay->statistics(LaneId{0}), nullptr);
  EXPECT_EQ(one.replay->statistics(LaneId{1})->primitives, 2U);
  EXPECT_EQ(one.replay->span(LaneId{1}).end_ns, 30);
}

TEST(Replay, AnEmptyTraceHasNoLanes) {
  const Opened one = opened({});
  ASSERT_TRUE(one.replay);
  EXPECT_TRUE(one.replay->lanes().empty());
  EXPECT_EQ(one.replay->statistics().primitives, 0U);
}

// Events that the file's reader skips are skipped here, too: event 1 ends before it begins.
TEST(Replay, UnreadableEventsAreInNoLane) {
  std::vector<TraceEvent> events = steps(0, 3);
  events[1].end_ns = events[1].begin_ns - 1;
  const Opened one = opened(events);
  EXPECT_EQ(one.replay->file().counts().unreadable_events, 1U);
  EXPECT_THAT(one.replay->events(LaneId{0}), ElementsAre(EventId{0}, EventId{2}));
}

TEST(Replay, AbsurdTimesDoNotOverflow) {
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  const std::vector<TraceEvent> events(40, event_at(-kFar, kFar - 1));
  const Opened one = opened(events);
  std::vector<Fold> folds;
  one.replay->fold(LaneId{0}, {INT64_MIN, INT64_MAX}, Nanoseconds{INT64_MAX}, folds);
  EXPECT_EQ(folds.size(), 40U);
  EXPECT_EQ(seen(*one.replay, {0, 1}).size(), 40U);
}

TEST(Replay, OpeningNamesAFilesProblem) {
  const TemporaryPath path("replay.rtrace");
  const auto missing = Replay::open(path.text());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  std::ofstream(path.text()) << "a letter to a friend, long enough";
  const auto foreign = Replay::open(path.text());
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ErrorCode::Corrupt);
}

// The complete blocks of a file are replayed, wherever it was truncated.
TEST(Replay, ATruncatedFileShowsItsWholeBlocks) {
  const Opened whole = opened(steps(0, 50), 10);
  for (std::size_t size = sizeof(rtrace::FileHeader); size < whole.bytes->size(); size += 3) {
    const auto file = TraceFile::parse(std::span(*whole.bytes).first(size), "cut");
    ASSERT_TRUE(file);
    const std::uint64_t events = file->counts().events;
    const auto replay = Replay::make(*file);
    ASSERT_TRUE(replay);
    EXPECT_EQ(events % 10, 0U);
    EXPECT_EQ(replay->lanes().empty() ? 0 : replay->events(LaneId{0}).size(), events);
  }
}

TEST(Replay, ProgressGoesUpToOneAndMayEndIt) {
  Opened one = opened(steps(0, 1000), 10);
  const auto file = [&] { return *TraceFile::parse(*one.bytes, "memory"); };
  std::vector<double> shares;
  ASSERT_TRUE(Replay::make(file(), [&](double share) { return shares.push_back(share), true; }));
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_GT(shares.size(), 3U);
  EXPECT_EQ(shares.back(), 1);
  const auto ended = Replay::make(file(), [](double share) { return share < 0.5; });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::Aborted);
}

}  // namespace
}  // namespace ringside
